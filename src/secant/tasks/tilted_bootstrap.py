"""Divergences with intervals valid near zero: parametric bootstrap of logistic regressions.

A log ratio g on the pooled rows defines a pair of distributions on them (J8): row i has weight
proportional to σ(g_i + log n_1/n_0) in p_1 and to the remainder in p_0, and g is the log ratio of
this pair. The family is s·ĝ with the fit ĝ and s ≥ 0. For several s, samples of the same sizes are
drawn and the regression is refitted. A divergence θ(s) is in the interval if the observed estimate
is not unusual among the estimates at s. At s = 0 the samples are equal, so the interval starts at 0
unless the data rule that out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq
from scipy.special import expit, log_expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

DIVERGENCES = (
    "kl",
    "kl_reverse",
    "jensen_shannon",
    "total_variation",
    "chi2",
    "chi2_reverse",
)

_DRAWS = 40  # bootstrap draws for each s
_DRAWS_ALIKE = 199  # at s = 0, where √T is not normal and empirical quantiles are used
_FIRST_SCALES = (0.0, 0.25, 0.5, 0.75, 1.0)
_GROWTH = 1.5
_WIDEST = 30.0  # standard deviation of s·ĝ, in nats
_ROUNDS = 8  # Newton steps of a refit; 3 or 4 suffice if the samples overlap
_LARGEST = 150.0  # log ratio at which a square is capped

Rows = Float[np.ndarray, " n"]


class IntervalEstimate(NamedTuple):
    """A divergence with a confidence interval.

    Attributes:
        value: the divergence at which the observed estimate is the median.
        low: lower end; 0 if the samples may be equal.
        high: upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Fit:
    """A ridge logistic regression on all rows."""

    features: Float[np.ndarray, "n k"]
    labels: Int[np.ndarray, " n"]
    ridge: float
    coefficients: Float[np.ndarray, " k"]

    @classmethod
    def of(
        cls, features: Float[np.ndarray, "n k"], labels: Int[np.ndarray, " n"], ridge: float
    ) -> _Fit:
        model = LogisticRegression(C=1.0 / ridge, solver="newton-cholesky").fit(features, labels)
        return cls(features, labels, ridge, model.coef_[0])

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of x_0 and of x_1."""
        n_1 = int(self.labels.sum())
        return self.labels.size - n_1, n_1

    @property
    def log_prior(self) -> float:
        n_0, n_1 = self.sizes
        return math.log(n_1 / n_0)


class _Tilt(NamedTuple):
    """A pair of distributions on the rows, with their log ratio."""

    log_ratio: Rows
    weight_1: Rows
    weight_0: Rows


class _Looked(NamedTuple):
    """At one s: √divergence of the pair, and mean and standard deviation of √estimate."""

    scale: float
    truth: Float[np.ndarray, " q"]
    mean: Float[np.ndarray, " q"]
    spread: Float[np.ndarray, " q"]


def tilted_intervals(
    features: Float[np.ndarray, "n k"],
    labels: Int[np.ndarray, " n"],
    *,
    ridge: float,
    confidence: float,
    rng: np.random.RandomState,
) -> dict[str, IntervalEstimate]:
    """The divergences between rows labelled 1 and rows labelled 0, by name (`DIVERGENCES`).

    Args:
        features: (n, k) of a logistic regression, with mean 0 and about unit variance.
        labels: (n,) 0 or 1.
        ridge: penalty, as in `logistic_pipeline`.
        confidence: level of the intervals.
        rng: random numbers.
    """
    fit = _Fit.of(features, labels, ridge)
    score = features @ fit.coefficients
    weight_1 = labels / labels.sum()
    weight_0 = (1 - labels) / (1 - labels).sum()
    # With the intercept of the tilt at s = 1.
    observed = _roots(_tilted(fit, score).log_ratio, weight_1, weight_0)
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    _, alike = _estimates(fit, 0.0, score, _DRAWS_ALIKE, rng)
    chance = (1 + np.count_nonzero(alike >= observed, axis=0)) / (1 + _DRAWS_ALIKE)
    may_be_alike = chance > 0.5 * (1.0 - confidence)
    looks = [_looked(fit, s, score, rng) for s in _FIRST_SCALES]
    while _goes_on(looks[-1], observed, z, float(score.std())):
        looks.append(_looked(fit, _GROWTH * looks[-1].scale, score, rng))
    found = {}
    for q, name in enumerate(DIVERGENCES):
        columns = [(look.truth[q], look.mean[q], look.spread[q]) for look in looks]
        value, low, high = (root**2 for root in _inverted(columns, float(observed[q]), z))
        squares = (value, 0.0 if may_be_alike[q] else low, high)
        found[name] = IntervalEstimate(
            *(map(math.expm1, squares) if name.startswith("chi2") else squares)
        )
    return found


def refitted_log_ratios(
    features: Float[np.ndarray, "n k"],
    labels: Int[np.ndarray, " n"],
    counts: Float[np.ndarray, "b n"],
    *,
    ridge: float,
) -> Float[np.ndarray, "b n"]:
    """Log ratios of all rows by regressions refitted to bootstrap samples.

    Args:
        features: (n, k) of a logistic regression, with mean 0 and about unit variance.
        labels: (n,) 0 or 1.
        counts: (b, n) number of times that each row was drawn.
        ridge: penalty.
    """
    fit = _Fit.of(features, labels, ridge)
    tilt = _tilted(fit, features @ fit.coefficients)
    return _refitted(fit, 1.0, tilt, counts * labels, counts * (1 - labels))


def _goes_on(last: _Looked, observed: Float[np.ndarray, " q"], z: float, spread: float) -> bool:
    """Whether a larger divergence may still be within an interval."""
    beyond = (observed - last.mean) / last.spread < -1.1 * z
    return not beyond.all() and last.scale * spread < _WIDEST and last.scale < 1e6


def _tilted(fit: _Fit, score: Rows) -> _Tilt:
    """The pair of distributions of a score (J8), normalised by a constant."""
    n_0, n_1 = fit.sizes

    def excess(constant: float) -> float:
        return float(expit(score + constant).sum()) - n_1

    reach = float(np.abs(score).max()) + abs(fit.log_prior) + 1.0
    constant = brentq(excess, -reach, reach)
    in_1 = expit(score + constant)
    log_ratio = score + constant - fit.log_prior
    return _Tilt(log_ratio, in_1 / n_1, expit(-score - constant) / n_0)


def _looked(fit: _Fit, scale: float, score: Rows, rng: np.random.RandomState) -> _Looked:
    truth, found = _estimates(fit, scale, score, _DRAWS, rng)
    # The prediction error of one more draw includes the error of the mean.
    spread = np.maximum(found.std(axis=0, ddof=1) * math.sqrt(1.0 + 1.0 / _DRAWS), 1e-9)
    return _Looked(scale, truth, found.mean(axis=0), spread)


def _estimates(
    fit: _Fit, scale: float, score: Rows, n_draws: int, rng: np.random.RandomState
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "b q"]]:
    """√divergence of the pair s·ĝ, and its estimates by refits to samples of the pair."""
    tilt = _tilted(fit, scale * score)
    n_0, n_1 = fit.sizes
    count_1, count_0 = (
        rng.multinomial(n, w / w.sum(), size=n_draws).astype(np.float64)
        for n, w in ((n_1, tilt.weight_1), (n_0, tilt.weight_0))
    )
    log_ratio = _refitted(fit, scale, tilt, count_1, count_0)
    truth = _roots(tilt.log_ratio, tilt.weight_1, tilt.weight_0)
    return truth, _roots(log_ratio, count_1 / n_1, count_0 / n_0)


def _refitted(
    fit: _Fit,
    scale: float,
    tilt: _Tilt,
    count_1: Float[np.ndarray, "b n"],
    count_0: Float[np.ndarray, "b n"],
) -> Float[np.ndarray, "b n"]:
    """Log ratios of regressions on drawn rows, by Newton steps with the Hessian of the pair.

    All draws share the Hessian, so a step costs one product with the features. No step changes a
    coefficient by more than 1, which keeps fits to draws without overlap finite.
    """
    x = np.column_stack([fit.features, np.ones(fit.labels.size)])
    penalty = np.full(x.shape[1], fit.ridge)
    penalty[-1] = 1e-9
    start = np.append(scale * fit.coefficients, 0.0)
    start[-1] = float((tilt.log_ratio - x[:, :-1] @ start[:-1]).mean()) + fit.log_prior
    chance = expit(x @ start)
    weights = (count_1 + count_0).mean(axis=0) * chance * (1.0 - chance)
    hessian = (x * weights[:, None]).T @ x + np.diag(penalty)
    inverse = np.linalg.pinv(hessian, hermitian=True)
    beta = np.repeat(start[None], count_1.shape[0], axis=0)
    for _ in range(_ROUNDS):
        fitted = (count_1 + count_0) * expit(beta @ x.T)
        step = ((count_1 - fitted) @ x - beta * penalty) @ inverse
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True), 1.0)
        beta += step
        if np.abs(step).max() < 1e-3:
            break
    return np.asarray(beta @ x.T - fit.log_prior)


def _roots(
    log_ratio: Float[np.ndarray, "*b n"],
    weight_1: Float[np.ndarray, "*b n"],
    weight_0: Float[np.ndarray, "*b n"],
) -> Float[np.ndarray, "*b q"]:
    """√D of each divergence D, whose variance near zero hardly depends on D.

    For χ² it is √log(1 + χ²), which a few large ratios do not dominate.
    """
    values = [
        (weight_1 * log_ratio).sum(-1),
        -(weight_0 * log_ratio).sum(-1),
        math.log(2.0)
        + 0.5 * (weight_1 * log_expit(log_ratio)).sum(-1)
        + 0.5 * (weight_0 * log_expit(-log_ratio)).sum(-1),
        ((weight_1 - weight_0) * (log_ratio > 0.0)).sum(-1),
        _log_square(log_ratio, weight_0),
        _log_square(-log_ratio, weight_1),
    ]
    return np.sqrt(np.maximum(np.stack(values, axis=-1), 0.0))


def _log_square(
    log_ratio: Float[np.ndarray, "*b n"], weight: Float[np.ndarray, "*b n"]
) -> Float[np.ndarray, "*b"]:
    """log(1 + χ²) = log E[r²] − 2 log E[r] over the sample below the ratio."""
    ratio = np.exp(np.minimum(log_ratio, _LARGEST))
    mean, square = (weight * ratio).sum(-1), (weight * ratio**2).sum(-1)
    return np.asarray(np.log(square) - 2.0 * np.log(mean))


def _inverted(
    looks: Sequence[tuple[float, float, float]], observed: float, z: float
) -> list[float]:
    """Roots of the divergence at which the standardised estimate is 0, z and −z."""
    truth, mean, spread = np.array(looks).T
    # The standard deviation of 40 draws has an error of 10 %; its logarithm is smoothed over s.
    basis = np.vander(truth, 3)
    smooth = np.exp(basis @ np.linalg.lstsq(basis, np.log(spread), rcond=None)[0])
    score = np.minimum.accumulate((observed - mean) / smooth)

    def root(level: float) -> float:
        if score[0] < level:
            return 0.0
        return float(np.interp(-level, -score, truth))

    return [root(level) for level in (0.0, z, -z)]
