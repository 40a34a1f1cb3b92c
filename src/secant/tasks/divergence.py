"""Divergences between two samples, each with an interval, from out-of-fold log ratios."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from secant._host.notebook import Summarised, fragment
from secant.estimators import RatioEstimator
from secant.estimators.checks import checked_rows
from secant.exceptions import OverlapWarning
from secant.tasks.cross_fitting import CrossFit, cross_fit
from secant.tasks.divergence_intervals import (
    Intervals,
    divergence_intervals,
    normal_estimate,
    plain_mean_terms,
    regression_of,
)
from secant.tasks.inference import checked_confidence, normal_reach, pooled_p_value
from secant.tasks.weight_support import WeightSupport, fold_normalised

_PERMUTATIONS = 199  # behind the lower end of an interval


@dataclass(frozen=True, eq=False)
class Divergence(Summarised):
    """An estimated divergence with its error.

    Attributes:
        name: of the divergence, with the numerator first.
        estimate: in nats for KL and Jensen–Shannon, never below 0.
        interval: at level `confidence`, including the uncertainty of the fit. It starts at 0 if the
            samples may be equal; its upper end is then what is known.
        confidence: level of the interval.
        notes: caveats, each with a number and a remedy.
        support: effective sample size of the denominator's rows, weighted by the ratio.
        cross_fit: the out-of-fold log ratios and the fits behind them.
    """

    name: str
    estimate: float
    interval: tuple[float, float]
    confidence: float
    notes: tuple[str, ...]
    support: WeightSupport
    cross_fit: CrossFit = field(repr=False)

    @property
    def standard_error(self) -> float:
        """Standard error of a normal distribution with an interval of the same width."""
        z = normal_reach(self.confidence)
        low, high = self.interval
        return (high - low) / (2.0 * z) if low > 0.0 else (high - self.estimate) / z

    @property
    def is_resolved(self) -> bool:
        """Whether the interval is above 0."""
        return self.interval[0] > 0.0

    @property
    def value_text(self) -> str:
        """The estimate with its interval, or the upper end where 0 is in it."""
        low, high = self.interval
        if not self.is_resolved:
            return f"at most {high:.3g} ({100 * self.confidence:g} %)"
        return f"{self.estimate:.3g} ({100 * self.confidence:g} % interval {low:.3g} to {high:.3g})"

    def __str__(self) -> str:
        line = f"{self.name}: {self.value_text}"
        return "\n".join([line, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """For notebooks."""
        return fragment(str(self).splitlines()[0], [("rows", str(self.support))], self.notes)


def kl_divergence(
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    reverse: bool = False,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_ensemble: int = 1,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Divergence:
    """KL(p_1‖p_0) = E_{p_1}[log p_1 − log p_0] in nats; the second sample is the numerator.

    The out-of-fold Donsker–Varadhan estimate (J1) is `mean_1(log r̂) − log mean_0(r̂)`, in
    expectation a lower bound whose bias is of second order in the error of log r̂. If the weights r̂
    are too heavy-tailed for their mean, the plain `mean_1(log r̂)` is used, whose bias is of first
    order and of either sign; an `OverlapWarning` and a note say so. To test whether the samples
    differ at all, use `two_sample_test`.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        reverse: KL(p_0‖p_1) = E_{p_0}[log p_0 − log p_1] instead.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: number of folds.
        n_ensemble: fits per fold, whose log ratios are averaged.
        confidence: level of the interval.
        random_state: random seed.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 1)), rng.normal(1, 1, (2000, 1))
        >>> kl = secant.kl_divergence(x_0, x_1, random_state=0)
        >>> low, high = kl.interval
        >>> bool(low < 0.5 < high)
        True
    """
    name = "kl_reverse" if reverse else "kl"
    return _estimated(name, x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)


def jensen_shannon(
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_ensemble: int = 1,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Divergence:
    """½ KL(p_0‖m) + ½ KL(p_1‖m) with m = ½(p_0 + p_1), in nats: from 0 to log 2, symmetric.

    The out-of-fold estimate (J2) is `log 2 + ½ mean_1(log σ(g)) + ½ mean_0(log σ(−g))` with
    g = log r̂, in expectation a lower bound whose bias is of second order in the error of log r̂. It
    needs no normaliser and no overlap, but saturates at log 2 = 0.693 for disjoint samples.

    Arguments are as in `kl_divergence`.
    """
    name = "jensen_shannon"
    return _estimated(name, x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)


def chi2_divergence(
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    reverse: bool = False,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_ensemble: int = 1,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Divergence:
    """χ²(p_1‖p_0) = E_{p_0}[(p_1/p_0)²] − 1; the second sample is the numerator.

    The out-of-fold estimate (J3) is `2 mean_1(r̂) − mean_0(r̂²) − 1`, in expectation a lower bound
    whose bias is of second order in the error of r̂. It depends on the squares of the largest
    weights. For samples a few nats apart no practical number of rows estimates their mean, and the
    standard error is too small; an `OverlapWarning` and a note say so.

    Arguments are as in `kl_divergence`; `reverse` is χ²(p_0‖p_1) = E_{p_1}[(p_0/p_1)²] − 1.
    """
    name = "chi2_reverse" if reverse else "chi2"
    return _estimated(name, x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)


def total_variation(
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_ensemble: int = 1,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Divergence:
    """sup_A P_1(A) − P_0(A) = ½ ∫ |p_1 − p_0|: from 0 to 1, symmetric.

    The out-of-fold estimate (J4) is `mean_1(log r̂ > 0) − mean_0(log r̂ > 0)`. Any set A gives a
    lower bound, and here A is where log r̂ > 0. One minus it is the sum of the two error rates of
    the best classifier.

    Arguments are as in `kl_divergence`.
    """
    name = "total_variation"
    return _estimated(name, x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)


def _estimated(
    name: str,
    x_0: ArrayLike,
    x_1: ArrayLike,
    estimator: RatioEstimator | None,
    n_folds: int,
    n_ensemble: int,
    confidence: float,
    random_state: int | np.random.RandomState | None,
) -> Divergence:
    """One divergence, from a cross-fit made for it; warns of its notes."""
    checked_confidence(confidence)
    rng = check_random_state(random_state)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=rng
    )
    rows_0, rows_1 = checked_rows(x_0, "x_0"), checked_rows(x_1, "x_1")
    draws = np.random.RandomState(rng.randint(2**31 - 1))
    p_value = None
    if scores.choice is not None:  # the chosen model looks better here than on other rows
        p_value = pooled_p_value(rows_0, rows_1, n_permutations=_PERMUTATIONS, rng=rng)
    intervals = divergence_intervals(
        scores, rows_0, rows_1, confidence=confidence, p_value=p_value, rng=draws
    )
    found = divergence_of(name, scores, intervals, confidence)
    for note in found.notes:
        warnings.warn(f"{found.name}: {note}", OverlapWarning, stacklevel=3)
    return found


_TITLES = {
    "kl": "KL({}) in nats",
    "chi2": "χ²({})",
    "jensen_shannon": "Jensen–Shannon(p_0, p_1) in nats",
    "total_variation": "total variation(p_0, p_1)",
}


def divergence_of(
    name: str, scores: CrossFit, intervals: Intervals, confidence: float
) -> Divergence:
    """One of `DIVERGENCES`, with notes on its weights; with "_reverse", p_0 is the numerator."""
    kind = name.removesuffix("_reverse")
    top, below = ("p_1", "p_0") if kind == name else ("p_0", "p_1")
    sided = scores if kind == name else scores.swapped
    zero, one = fold_normalised(sided)
    support = WeightSupport.of(zero, one)
    found, note = intervals[name], ""
    if kind == "chi2":
        note = _squares_note(top, below, (zero, one), support)
    elif kind == "kl" and not support.is_enough:
        if regression_of(scores) is None:
            found, note = normal_estimate(plain_mean_terms(sided), confidence), _PLAIN_MEAN
        else:
            note = _BY_REGRESSION
        note = f"{support} over {below}: {note}"
    ends = found.low, found.high
    title, notes = _TITLES[kind].format(f"{top}‖{below}"), (note,) if note else ()
    return Divergence(title, found.value, ends, confidence, notes, support, scores)


_BY_REGRESSION = (
    "the estimate rests on the form of the regression where there are few rows. Compare a second "
    "estimator; jensen_shannon needs no overlap."
)
_PLAIN_MEAN = (
    "their mean cannot be estimated, so this is the plain mean of the log ratio, which is no bound "
    "and contains the error of the fit. Compare a second estimator or use more rows; "
    "jensen_shannon needs no overlap."
)


def _squares_note(
    top: str,
    below: str,
    log_ratio: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]],
    support: WeightSupport,
) -> str:
    """The weighted means behind χ² that are unreliable; nothing if all are reliable."""
    zero, one = log_ratio
    means = {
        f"the ratio over {below}": support,
        f"the squared ratio over {below}": WeightSupport.of(2.0 * zero),
        f"the ratio over {top}": WeightSupport.of(one),
    }
    weak = [f"{what} has {rows}" for what, rows in means.items() if not rows.is_enough]
    if not weak:
        return ""
    return (
        f"{'; '.join(weak)}: the estimate depends on a few rows, and its standard error is too "
        "small. Use kl_divergence or jensen_shannon, or collect rows where the samples overlap."
    )
