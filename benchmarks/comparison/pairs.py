"""Ten pairs of distributions with exact log ratios, and files of JSON rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import log_expit

Rows = np.ndarray
QUANTITIES = ("kl", "kl_reverse", "jensen_shannon")


class Pair(NamedTuple):
    """Two distributions: samplers and the exact log ratio."""

    draw: Callable[[np.random.Generator, int, int], tuple[Rows, Rows]]
    log_ratio: Callable[[Rows], Rows]


def shifted(d: int, shift: float) -> Pair:
    """Unit normals, the first column shifted."""

    def draw(rng: np.random.Generator, n: int, m: int) -> tuple[Rows, Rows]:
        x_1 = rng.normal(size=(m, d))
        x_1[:, 0] += shift
        return rng.normal(size=(n, d)), x_1

    return Pair(draw, lambda x: shift * x[:, 0] - 0.5 * shift**2)


def scaled(d: int, k: int, scale: float) -> Pair:
    """Unit normals, k columns wider."""

    def draw(rng: np.random.Generator, n: int, m: int) -> tuple[Rows, Rows]:
        x_1 = rng.normal(size=(m, d))
        x_1[:, :k] *= scale
        return rng.normal(size=(n, d)), x_1

    def log_ratio(x: Rows) -> Rows:
        return -k * np.log(scale) + 0.5 * (1.0 - scale**-2) * (x[:, :k] ** 2).sum(axis=1)

    return Pair(draw, log_ratio)


def correlated(d: int, rho: float) -> Pair:
    """Unit normals, two columns correlated."""
    rest = 1.0 - rho**2

    def draw(rng: np.random.Generator, n: int, m: int) -> tuple[Rows, Rows]:
        x_1 = rng.normal(size=(m, d))
        x_1[:, 1] = rho * x_1[:, 0] + np.sqrt(rest) * x_1[:, 1]
        return rng.normal(size=(n, d)), x_1

    def log_ratio(x: Rows) -> Rows:
        u, v = x[:, 0], x[:, 1]
        return -0.5 * np.log(rest) - 0.5 * (v - rho * u) ** 2 / rest + 0.5 * v**2

    return Pair(draw, log_ratio)


def heavy_tailed(d: int, freedom: float, shift: float) -> Pair:
    """Student's t, the first column shifted."""

    def draw(rng: np.random.Generator, n: int, m: int) -> tuple[Rows, Rows]:
        x_1 = rng.standard_t(freedom, size=(m, d))
        x_1[:, 0] += shift
        return rng.standard_t(freedom, size=(n, d)), x_1

    def log_ratio(x: Rows) -> Rows:
        return stats.t.logpdf(x[:, 0] - shift, freedom) - stats.t.logpdf(x[:, 0], freedom)

    return Pair(draw, log_ratio)


def mixture(d: int, centre: float, scale: float) -> Pair:
    """A unit normal against two narrower ones, in the first column."""

    def draw(rng: np.random.Generator, n: int, m: int) -> tuple[Rows, Rows]:
        x_1 = rng.normal(size=(m, d))
        x_1[:, 0] = centre * rng.choice([-1.0, 1.0], m) + scale * x_1[:, 0]
        return rng.normal(size=(n, d)), x_1

    def log_ratio(x: Rows) -> Rows:
        sides = (stats.norm.logpdf(x[:, 0], c, scale) for c in (centre, -centre))
        return np.logaddexp(*sides) - np.log(2.0) - stats.norm.logpdf(x[:, 0])

    return Pair(draw, log_ratio)


def categories() -> Pair:
    """Four categories as the encoding of tables makes them, and two columns of noise."""
    share_0, share_1 = np.array([0.4, 0.3, 0.2, 0.1]), np.full(4, 0.25)

    def sample(rng: np.random.Generator, n: int, share: Rows) -> Rows:
        codes = np.eye(4)[rng.choice(4, n, p=share)] + rng.uniform(size=(n, 4))
        return np.column_stack([codes, rng.normal(size=(n, 2))])

    def log_ratio(x: Rows) -> Rows:
        return np.log(share_1 / share_0)[np.argmax(x[:, :4] >= 1.0, axis=1)]

    return Pair(lambda rng, n, m: (sample(rng, n, share_0), sample(rng, m, share_1)), log_ratio)


PAIRS = {
    "null": shifted(5, 0.0),
    "mean shift": shifted(5, 0.7),
    "scale": scaled(5, 2, 1.4),
    "correlation": correlated(5, 0.6),
    "one of 20 columns": shifted(20, 0.7),
    "heavy tails": heavy_tailed(3, 3.0, 1.0),
    "mixture": mixture(3, 1.0, 0.6),
    "categories": categories(),
    "unequal sizes": shifted(3, 0.7),
    "near-chasm": shifted(5, 3.0),
}

# Rows of both samples at which the best other method has a power of about 0.5 to 0.9.
SIZES = {
    "mean shift": (45, 45),
    "scale": (90, 90),
    "correlation": (110, 110),
    "one of 20 columns": (70, 70),
    "heavy tails": (40, 40),
    "mixture": (110, 110),
    "categories": (120, 120),
    "unequal sizes": (400, 20),
    "near-chasm": (6, 6),
    "null": (200, 200),
}
# Samples of one distribution, with sizes at which ours chooses among different models.
NULLS = {"null": (200, 200), "null, trees": (400, 400)}


def sizes(name: str, n: int) -> tuple[int, int]:
    """Rows of both samples; of the unequal pair, 20 times fewer and at least 50 of the second."""
    return (n, max(50, n // 20)) if name == "unequal sizes" else (n, n)


def truth(pair: Pair) -> dict[str, float]:
    """The divergences by a million rows."""
    x_0, x_1 = pair.draw(np.random.default_rng(1), 1_000_000, 1_000_000)
    zero, one = pair.log_ratio(x_0), pair.log_ratio(x_1)
    js = np.log(2.0) + 0.5 * log_expit(one).mean() + 0.5 * log_expit(-zero).mean()
    return {"kl": one.mean(), "kl_reverse": -zero.mean(), "jensen_shannon": js}
