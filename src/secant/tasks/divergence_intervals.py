"""Divergences of two samples with intervals, from a cross-fit and the rows behind it."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from secant.estimators import SklearnRatio
from secant.tasks import divergence_terms as terms_of
from secant.tasks.column_bases import HingeColumns, design, logistic_pipeline
from secant.tasks.cross_fitting import CrossFit
from secant.tasks.divergence_terms import Sides, Terms
from secant.tasks.intervals import normal_interval
from secant.tasks.model_choice import are_apart, bases_for
from secant.tasks.tilted_bootstrap import (
    DIVERGENCES,
    IntervalEstimate,
    tilted_intervals,
    tilted_upper_ends,
)
from secant.tasks.weight_support import WeightSupport, fold_normalised

__all__ = [
    "Intervals",
    "divergence_intervals",
    "normal_estimate",
    "regression_features",
    "regression_of",
]

Intervals = dict[str, IntervalEstimate]

_MOST_ROWS = 20_000  # of both samples: beyond, the error of a fit is small beside that of the rows
_RIDGE = 1.0  # of the regression on scores


def divergence_intervals(
    scores: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    *,
    confidence: float,
    p_value: float | None,
    rng: np.random.RandomState,
) -> Intervals:
    """Every divergence with an interval, by name.

    A logistic regression is refitted to drawn samples (`tilted_intervals`). Of another model the
    out-of-fold score is taken as it is, and a regression on that score alone is refitted: its
    divergence is that of the score's two distributions, a lower bound. The upper end is the largest
    among the regressions that the held-out loss could not tell from the one chosen and, where no
    difference was found, among those with hardly a penalty.

    Args:
        scores: the cross-fit.
        x_0: its rows of p_0.
        x_1: its rows of p_1.
        confidence: of the intervals.
        p_value: of a test that the samples are alike; unless it is below 1 − confidence, intervals
            start at 0. None if there was no test.
        rng: of the draws.
    """
    is_found = p_value is None or p_value < 1.0 - confidence
    is_apart = regression_of(scores) is None and not _overlaps(scores)
    if is_apart or len(x_0) + len(x_1) > _MOST_ROWS:
        found = {name: _normal(name, scores, confidence) for name in DIVERGENCES}
    else:
        labels = np.repeat([0, 1], [len(x_0), len(x_1)])
        rivals = list(() if scores.choice is None else scores.choice.rivals)
        if scores.choice is not None and not is_found:
            # Held-out loss prefers a penalty that hides small differences: look without one too.
            bases = bases_for(min(len(x_0), len(x_1)), x_0.shape[1])
            rivals += [logistic_pipeline(basis, _RIDGE) for basis in bases]
        features, ridge = regression_features(scores, x_0, x_1)
        found = tilted_intervals(features, labels, ridge=ridge, confidence=confidence, rng=rng)
        for rival in rivals:
            features, ridge = design(rival, x_0, x_1), _ridge(rival)
            highs = tilted_upper_ends(features, labels, ridge=ridge, confidence=confidence, rng=rng)
            found = {n: e._replace(high=max(e.high, highs[n])) for n, e in found.items()}
    if is_found:
        return found
    return {name: estimate._replace(low=0.0) for name, estimate in found.items()}


def normal_estimate(terms: Terms, confidence: float, largest: float = math.inf) -> IntervalEstimate:
    """The mean of the terms and its normal interval, from 0 to the largest there can be.

    Terms that are all alike, as where the samples are apart, still leave an error of 1/n.
    """
    value = min(max(terms.estimate, 0.0), largest)
    error = max(terms.standard_error, 1.0 / min(terms.one.size, terms.zero.size))
    low, high = normal_interval(value, error, confidence)
    return IntervalEstimate(value, max(low, 0.0), min(high, largest))


def regression_of(scores: CrossFit) -> Pipeline | None:
    """The logistic regression that was cross-fitted, if it was one; it can be refitted.

    None where it tells the samples apart without error: then its penalty rules, not the rows.
    """
    if are_apart(scores.log_ratio_0, scores.log_ratio_1):
        return None
    members = [member for ensemble in scores.ensembles for member in ensemble.members]
    first = members[0]
    fitted = getattr(first, "classifier_", None) if isinstance(first, SklearnRatio) else None
    if isinstance(fitted, LogisticRegression):
        fitted = make_pipeline(FunctionTransformer(), fitted)
    if len(members) > scores.n_folds or not isinstance(fitted, Pipeline):
        return None
    is_plain = isinstance(fitted[-1], LogisticRegression) and not fitted[-1].l1_ratio
    return fitted if is_plain else None


def _ridge(pipeline: Pipeline) -> float:
    return 1.0 / float(pipeline[-1].C)


def regression_features(
    scores: CrossFit, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> tuple[Float[np.ndarray, "n_and_m k"], float]:
    """Features of the regression to be refitted, and its penalty; rows of x_0 first.

    Of another model than a regression, hinges of its out-of-fold score.
    """
    pipeline = regression_of(scores)
    if pipeline is not None:
        return StandardScaler().fit_transform(design(pipeline, x_0, x_1)), _ridge(pipeline)
    # Each fold's fit has a constant of its own.
    score = np.concatenate(fold_normalised(scores))[:, None]
    if np.ptp(score) > 1e-9:
        return StandardScaler().fit_transform(HingeColumns().fit_transform(score)), _RIDGE
    # Nothing was learned: what a linear difference could be and still not show.
    return design(logistic_pipeline("linear", _RIDGE), x_0, x_1), _RIDGE


def _overlaps(scores: CrossFit) -> bool:
    """Whether weighted rows of either sample can stand for the other."""
    both = (fold_normalised(Sides.of(scores, reverse=r).scores) for r in (False, True))
    return all(WeightSupport.of(*weights).is_enough for weights in both)


def _normal(name: str, scores: CrossFit, confidence: float) -> IntervalEstimate:
    largest = {"jensen_shannon": math.log(2.0), "total_variation": 1.0}.get(name, math.inf)
    return normal_estimate(_terms(name, scores), confidence, largest)


def _terms(name: str, scores: CrossFit) -> Terms:
    formulas = {
        "kl": terms_of.donsker_varadhan,
        "jensen_shannon": terms_of.jensen_shannon,
        "total_variation": terms_of.total_variation,
        "chi2": terms_of.chi2,
    }
    sides = Sides.of(scores, reverse=name.endswith("_reverse"))
    return formulas[name.removesuffix("_reverse")](sides.scores)
