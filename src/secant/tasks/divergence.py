"""Divergences between two samples, each with a standard error, from out-of-fold log ratios."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from secant.estimators import RatioEstimator
from secant.exceptions import OverlapWarning
from secant.tasks import divergence_terms as terms_of
from secant.tasks.cross_fitting import CrossFit, cross_fit
from secant.tasks.divergence_terms import Sides, Terms
from secant.tasks.intervals import checked_confidence, normal_interval
from secant.tasks.weight_support import WeightSupport, fold_normalised

__all__ = [
    "Divergence",
    "chi2_divergence",
    "jensen_shannon",
    "kl_divergence",
    "total_variation",
]


@dataclass(frozen=True, eq=False)
class Divergence:
    """An estimated divergence with its error.

    Attributes:
        name: what was estimated, with the sample on top first.
        estimate: in nats for KL and Jensen–Shannon. Not cut off at 0: noise may carry it below.
        standard_error: of the two samples' rows, given the fits; not of the fits themselves.
        interval: normal interval at `confidence`.
        confidence: its level.
        notes: what to know before believing it, each with a number and a remedy.
        support: of the rows below the ratio, weighted by it.
        cross_fit: the out-of-fold log ratios and the fits behind them.
    """

    name: str
    estimate: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    notes: tuple[str, ...]
    support: WeightSupport
    cross_fit: CrossFit = field(repr=False)

    def __str__(self) -> str:
        low, high = self.interval
        line = (
            f"{self.name} = {self.estimate:.4g} ± {self.standard_error:.2g} "
            f"({100 * self.confidence:g} % interval {low:.4g} to {high:.4g})"
        )
        return "\n".join([line, *(f"  note: {note}" for note in self.notes)])


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
    """KL(p_1‖p_0) = E_{p_1}[log p_1 − log p_0] in nats: the second sample is on top.

    Out of fold, by Donsker and Varadhan (J1): `mean_1(log r̂) − log mean_0(r̂)`. An error of log r̂
    enters squared and lowers it, so in expectation it is a lower bound. Where the weights r̂ are too
    heavy for their mean, it is the plain `mean_1(log r̂)`: an error enters as it is, with either
    sign; an `OverlapWarning` and a note say so. Near 0 the squared error is as large as the
    standard error: to ask whether the samples differ at all, use `two_sample_test`.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        reverse: KL(p_0‖p_1) = E_{p_0}[log p_0 − log p_1] instead.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: parts of the rows; each is scored by fits on the others.
        n_ensemble: fits a fold, whose log ratios are averaged.
        confidence: level of the interval.
        random_state: seed of the folds and the fits.

    Example:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 1)), rng.normal(1, 1, (2000, 1))
        >>> ratio = secant.SklearnRatio()
        >>> kl = secant.kl_divergence(x_0, x_1, estimator=ratio, random_state=0)
        >>> low, high = kl.interval
        >>> bool(low < 0.5 < high)
        True
    """
    checked_confidence(confidence)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=random_state
    )
    sides = Sides.of(scores, reverse=reverse)
    support = WeightSupport.of(*fold_normalised(sides.scores))
    terms, note = terms_of.donsker_varadhan(sides.scores), ""
    if not support.is_enough:
        terms = terms_of.plain_mean(sides.scores)
        note = (
            f"{support} over {sides.below}: their mean cannot be had, so this is the plain mean of "
            "the log ratio, neither a bound nor free of the fit's own error. Compare a second "
            "estimator or more rows; jensen_shannon needs no overlap."
        )
    return _estimated(f"KL({sides}) in nats", terms, confidence, support, scores, note)


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

    Out of fold (J2): `log 2 + ½ mean_1(log σ(g)) + ½ mean_0(log σ(−g))` with g = log r̂. In
    expectation a lower bound; an error of log r̂ enters squared. Its terms never grow faster than
    the log ratio, so it needs no normaliser and no overlap: where the samples are apart, it is
    near log 2 = 0.693 and no longer says how far.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: parts of the rows; each is scored by fits on the others.
        n_ensemble: fits a fold, whose log ratios are averaged.
        confidence: level of the interval.
        random_state: seed of the folds and the fits.
    """
    checked_confidence(confidence)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=random_state
    )
    support = WeightSupport.of(*fold_normalised(scores))
    name = "Jensen–Shannon(p_0, p_1) in nats"
    return _estimated(name, terms_of.jensen_shannon(scores), confidence, support, scores)


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
    """χ²(p_1‖p_0) = E_{p_0}[(p_1/p_0)²] − 1: the second sample is on top.

    Out of fold (J3): `2 mean_1(r̂) − mean_0(r̂²) − 1`. In expectation a lower bound; an error of r̂
    enters squared. It rests on the square of the largest weights, and p_1/p_0 of two samples that
    are a few nats apart has a square that no number of rows averages: an `OverlapWarning` and a
    note say so, and then the standard error is too small as well.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        reverse: χ²(p_0‖p_1) = E_{p_1}[(p_0/p_1)²] − 1 instead.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: parts of the rows; each is scored by fits on the others.
        n_ensemble: fits a fold, whose log ratios are averaged.
        confidence: level of the interval.
        random_state: seed of the folds and the fits.
    """
    checked_confidence(confidence)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=random_state
    )
    sides = Sides.of(scores, reverse=reverse)
    zero, one = fold_normalised(sides.scores)
    support, terms = WeightSupport.of(zero, one), terms_of.chi2(sides.scores)
    means = {
        f"the ratio over {sides.below}": support,
        f"the squared ratio over {sides.below}": WeightSupport.of(2.0 * zero),
        f"the ratio over {sides.top}": WeightSupport.of(one),
    }
    weak = [f"{what} has {rows}" for what, rows in means.items() if not rows.is_enough]
    note = (
        f"{'; '.join(weak)}: a few rows make this estimate, and its error is larger than it says. "
        "Use kl_divergence or jensen_shannon, or collect rows where the samples overlap."
    )
    name = f"χ²({sides})"
    return _estimated(name, terms, confidence, support, scores, note if weak else "")


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

    Out of fold (J4): the set A is where log r̂ > 0, `mean_1(log r̂ > 0) − mean_0(log r̂ > 0)`. Any
    set gives a lower bound, so this is one in expectation, and only rows that the fit puts on the
    wrong side cost anything. One minus it is the sum of the two error rates of the best classifier.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: parts of the rows; each is scored by fits on the others.
        n_ensemble: fits a fold, whose log ratios are averaged.
        confidence: level of the interval.
        random_state: seed of the folds and the fits.
    """
    checked_confidence(confidence)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=random_state
    )
    support = WeightSupport.of(*fold_normalised(scores))
    name = "total variation(p_0, p_1)"
    return _estimated(name, terms_of.total_variation(scores), confidence, support, scores)


def _estimated(
    name: str,
    terms: Terms,
    confidence: float,
    support: WeightSupport,
    scores: CrossFit,
    note: str = "",
) -> Divergence:
    if note:
        warnings.warn(f"{name}: {note}", OverlapWarning, stacklevel=3)
    interval = normal_interval(terms.estimate, terms.standard_error, confidence)
    return Divergence(
        name,
        terms.estimate,
        terms.standard_error,
        interval,
        confidence,
        (note,) if note else (),
        support,
        scores,
    )
