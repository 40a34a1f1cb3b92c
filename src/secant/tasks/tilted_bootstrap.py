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
from scipy.special import expit
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
_SMALLER_SCALES = (0.75, 0.5, 0.25, 0.0)  # looked at in turn, as far as an interval reaches
_GROWTH = 1.5
_BEYOND = 1.1  # of z: how unusual an estimate is at a scale that ends the looks
_WIDEST = 30.0  # standard deviation of s·ĝ, in nats
_ROUNDS = 8  # Newton steps of a refit; 3 or 4 suffice if the samples overlap
_LARGEST = 150.0  # log ratio at which a square is capped

Values = Float[np.ndarray, " n"]


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
    """A ridge logistic regression on all rows, and its score without the intercept."""

    features: Float[np.ndarray, "n k"]
    labels: Int[np.ndarray, " n"]
    ridge: float
    coefficients: Float[np.ndarray, " k"]
    score: Values

    @classmethod
    def of(
        cls, features: Float[np.ndarray, "n k"], labels: Int[np.ndarray, " n"], ridge: float
    ) -> _Fit:
        model = LogisticRegression(C=1.0 / ridge, solver="newton-cholesky").fit(features, labels)
        return cls(features, labels, ridge, model.coef_[0], features @ model.coef_[0])

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

    log_ratio: Values
    weight_1: Values
    weight_0: Values


@dataclass(frozen=True)
class _Draws:
    """Uniform numbers that become samples of any pair: the same ones serve every s."""

    one: Float[np.ndarray, "b n_1"]
    zero: Float[np.ndarray, "b n_0"]

    @classmethod
    def of(cls, n_draws: int, sizes: tuple[int, int], rng: np.random.RandomState) -> _Draws:
        n_0, n_1 = sizes
        # Sorted, they are looked up faster.
        one, zero = (np.sort(rng.uniform(size=(n_draws, n)), axis=1) for n in (n_1, n_0))
        return cls(one, zero)

    def counts(self, tilt: _Tilt) -> tuple[Float[np.ndarray, "b n"], Float[np.ndarray, "b n"]]:
        """How often each row is drawn from p_1 and from p_0."""
        return _counts(self.one, tilt.weight_1), _counts(self.zero, tilt.weight_0)


class _Looked(NamedTuple):
    """At one s: √divergence of the pair; √estimates of refits, their mean and spread."""

    scale: float
    truth: Float[np.ndarray, " q"]
    estimates: Float[np.ndarray, "b q"]
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
    draws = _Draws.of(_DRAWS, fit.sizes, rng)
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    observed = _observed(fit)
    looks = _looks(fit, observed, draws, up_to=_BEYOND * z, down_to=-_BEYOND * z)
    may_be_alike = np.zeros(len(DIVERGENCES), dtype=bool)
    if looks[0].scale == 0.0:
        more = _Draws.of(_DRAWS_ALIKE - _DRAWS, fit.sizes, rng)
        alike = np.concatenate([looks[0].estimates, _estimates(fit, 0.0, more)[1]])
        chance = (1 + np.count_nonzero(alike >= observed, axis=0)) / (1 + _DRAWS_ALIKE)
        may_be_alike = chance > 0.5 * (1.0 - confidence)
    found = {}
    for q, name in enumerate(DIVERGENCES):
        value, low, high = (
            _divergence(name, _root(looks, observed, q, level)) for level in (0.0, z, -z)
        )
        found[name] = IntervalEstimate(value, 0.0 if may_be_alike[q] else low, high)
    return found


def tilted_upper_ends(
    features: Float[np.ndarray, "n k"],
    labels: Int[np.ndarray, " n"],
    *,
    ridge: float,
    confidence: float,
    rng: np.random.RandomState,
) -> dict[str, float]:
    """The upper ends of `tilted_intervals`, by fewer draws."""
    fit = _Fit.of(features, labels, ridge)
    draws = _Draws.of(_DRAWS, fit.sizes, rng)
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    observed = _observed(fit)
    looks = _looks(fit, observed, draws, up_to=0.0, down_to=-_BEYOND * z)
    return {
        name: _divergence(name, _root(looks, observed, q, -z)) for q, name in enumerate(DIVERGENCES)
    }


def refitted_log_ratios(
    features: Float[np.ndarray, "n k"],
    labels: Int[np.ndarray, " n"],
    counts: Float[np.ndarray, "b n"],
    *,
    ridge: float,
) -> Float[np.ndarray, "b n"]:
    """Log ratios of all rows by regressions refitted to samples that drew rows so many times."""
    fit = _Fit.of(features, labels, ridge)
    tilt = _tilted(fit, fit.score)
    return _refitted(fit, 1.0, tilt, counts * labels, counts * (1 - labels))


def _observed(fit: _Fit) -> Float[np.ndarray, " q"]:
    """Roots of the divergences as the fit to the data estimates them, in its own rows."""
    n_0, n_1 = fit.sizes
    # The intercept of the fit, less the prior, as the tilt at s = 1 has it.
    return _roots(_tilted(fit, fit.score).log_ratio, fit.labels / n_1, (1 - fit.labels) / n_0)


def _looks(
    fit: _Fit, observed: Float[np.ndarray, " q"], draws: _Draws, *, up_to: float, down_to: float
) -> list[_Looked]:
    """From s = 1 down and up until what was observed is as unusual as the two levels say."""
    looks = [_looked(fit, 1.0, draws)]
    for scale in _SMALLER_SCALES:
        if (_unusual(looks[0], observed) > up_to).all():
            break
        looks.insert(0, _looked(fit, scale, draws))
    spread = float(fit.score.std())
    while not (_unusual(looks[-1], observed) < down_to).all():
        last = looks[-1].scale
        if last * spread >= _WIDEST or last >= 1e6:
            break
        looks.append(_looked(fit, _GROWTH * last, draws))
    return looks


def _unusual(look: _Looked, observed: Float[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
    """Standard deviations by which the observed estimates exceed those of a look."""
    return (observed - look.mean) / look.spread


def _tilted(fit: _Fit, score: Values) -> _Tilt:
    """The pair of distributions of a score (J8), normalised by a constant."""
    n_0, n_1 = fit.sizes

    def excess(constant: float) -> float:
        return float(expit(score + constant).sum()) - n_1

    reach = float(np.abs(score).max()) + abs(fit.log_prior) + 1.0
    constant = brentq(excess, -reach, reach)
    in_1 = expit(score + constant)
    log_ratio = score + constant - fit.log_prior
    return _Tilt(log_ratio, in_1 / n_1, expit(-score - constant) / n_0)


def _counts(uniform: Float[np.ndarray, "b m"], weight: Values) -> Float[np.ndarray, "b n"]:
    """How often each row is drawn: uniform numbers looked up in the distribution function."""
    b, n = len(uniform), weight.size
    reached = np.cumsum(weight)
    row = np.searchsorted(reached[:-1] / reached[-1], uniform, side="right")
    flat = row + n * np.arange(b)[:, None]
    return np.bincount(flat.ravel(), minlength=b * n).reshape(b, n).astype(np.float64)


def _looked(fit: _Fit, scale: float, draws: _Draws) -> _Looked:
    truth, found = _estimates(fit, scale, draws)
    # The prediction error of one more draw includes the error of the mean.
    spread = np.maximum(found.std(axis=0, ddof=1) * math.sqrt(1.0 + 1.0 / len(found)), 1e-9)
    return _Looked(scale, truth, found, found.mean(axis=0), spread)


def _estimates(
    fit: _Fit, scale: float, draws: _Draws
) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "b q"]]:
    """√divergence of the pair s·ĝ, and its estimates by refits to samples of the pair."""
    tilt = _tilted(fit, scale * fit.score)
    n_0, n_1 = fit.sizes
    count_1, count_0 = draws.counts(tilt)
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
    ratio = np.exp(np.clip(log_ratio, -_LARGEST, _LARGEST))
    softplus = np.where(log_ratio > _LARGEST, log_ratio, np.log1p(ratio))  # −log σ(−g)
    values = [
        (weight_1 * log_ratio).sum(-1),
        -(weight_0 * log_ratio).sum(-1),
        math.log(2.0)
        + 0.5 * (weight_1 * (log_ratio - softplus)).sum(-1)
        - 0.5 * (weight_0 * softplus).sum(-1),
        ((weight_1 - weight_0) * (log_ratio > 0.0)).sum(-1),
        _log_square(ratio, weight_0),
        _log_square(1.0 / ratio, weight_1),
    ]
    return np.sqrt(np.maximum(np.stack(values, axis=-1), 0.0))


def _log_square(
    ratio: Float[np.ndarray, "*b n"], weight: Float[np.ndarray, "*b n"]
) -> Float[np.ndarray, "*b"]:
    """log(1 + χ²) = log E[r²] − 2 log E[r] over the sample below the ratio."""
    weighted = weight * ratio
    return np.asarray(np.log((weighted * ratio).sum(-1)) - 2.0 * np.log(weighted.sum(-1)))


def _root(
    looks: Sequence[_Looked], observed: Float[np.ndarray, " q"], q: int, level: float
) -> float:
    """Root of the divergence q at which what was observed is so many standard deviations off."""
    columns = np.array([(look.truth[q], look.mean[q], look.spread[q]) for look in looks])
    return _inverted(columns, float(observed[q]), level)


def _inverted(looks: Float[np.ndarray, "s 3"], observed: float, level: float) -> float:
    truth, mean, spread = looks.T
    # The standard deviation of 40 draws has an error of 10 %; its logarithm is smoothed over s.
    basis = np.vander(truth, min(3, len(truth)))
    smooth = np.exp(basis @ np.linalg.lstsq(basis, np.log(spread), rcond=None)[0])
    score = np.minimum.accumulate((observed - mean) / smooth)
    return 0.0 if score[0] < level else float(np.interp(-level, -score, truth))


def _divergence(name: str, root: float) -> float:
    """The divergence of a root; of χ², see `_roots`."""
    return math.expm1(root**2) if name.startswith("chi2") else root**2
