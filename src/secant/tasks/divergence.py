"""Divergences between two samples, each with a standard error, from out-of-fold log ratios."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from secant.estimators import RatioEstimator
from secant.estimators.checks import checked_rows
from secant.exceptions import OverlapWarning
from secant.tasks.cross_fitting import CrossFit, cross_fit
from secant.tasks.divergence_intervals import Intervals, divergence_intervals
from secant.tasks.divergence_result import (
    Divergence,
    chi2_from,
    jensen_shannon_from,
    kl_from,
    total_variation_from,
)
from secant.tasks.intervals import checked_confidence
from secant.tasks.permutation import pooled_p_value

__all__ = [
    "Divergence",
    "chi2_divergence",
    "jensen_shannon",
    "kl_divergence",
    "total_variation",
]

_PERMUTATIONS = 199  # behind the lower end of an interval


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

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 1)), rng.normal(1, 1, (2000, 1))
        >>> ratio = secant.SklearnRatio()
        >>> kl = secant.kl_divergence(x_0, x_1, estimator=ratio, random_state=0)
        >>> low, high = kl.interval
        >>> bool(low < 0.5 < high)
        True
    """
    scores, found = _examined(x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)
    return _warned(kl_from(scores, found, reverse=reverse, confidence=confidence))


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
    scores, found = _examined(x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)
    return _warned(jensen_shannon_from(scores, found, confidence=confidence))


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
    scores, found = _examined(x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)
    return _warned(chi2_from(scores, found, reverse=reverse, confidence=confidence))


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
    scores, found = _examined(x_0, x_1, estimator, n_folds, n_ensemble, confidence, random_state)
    return _warned(total_variation_from(scores, found, confidence=confidence))


def _examined(
    x_0: ArrayLike,
    x_1: ArrayLike,
    estimator: RatioEstimator | None,
    n_folds: int,
    n_ensemble: int,
    confidence: float,
    random_state: int | np.random.RandomState | None,
) -> tuple[CrossFit, Intervals]:
    """A cross-fit and every divergence that follows from it."""
    checked_confidence(confidence)
    rng = check_random_state(random_state)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=rng
    )
    rows_0, rows_1 = checked_rows(x_0, "x_0"), checked_rows(x_1, "x_1")
    draws = np.random.RandomState(rng.randint(2**31 - 1))
    p_value = None
    if scores.choice is not None:  # which made the fit look better than it would on other rows
        p_value = pooled_p_value(rows_0, rows_1, n_permutations=_PERMUTATIONS, rng=rng)
    found = divergence_intervals(
        scores, rows_0, rows_1, confidence=confidence, p_value=p_value, rng=draws
    )
    return scores, found


def _warned(found: Divergence) -> Divergence:
    for note in found.notes:
        warnings.warn(f"{found.name}: {note}", OverlapWarning, stacklevel=3)
    return found
