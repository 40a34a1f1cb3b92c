"""Divergences with intervals, from a cross-fit and its rows; and their terms, row by row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from secant.diagnostics import log_normaliser
from secant.estimators import SklearnRatio
from secant.tasks.column_bases import HingeColumns, design, logistic_pipeline
from secant.tasks.cross_fitting import CrossFit
from secant.tasks.inference import normal_interval
from secant.tasks.model_choice import are_apart, bases_for
from secant.tasks.tilted_bootstrap import (
    DIVERGENCES,
    IntervalEstimate,
    tilted_intervals,
    tilted_upper_ends,
)
from secant.tasks.weight_support import WeightSupport, fold_normalised

Intervals = dict[str, IntervalEstimate]

_MOST_ROWS = 20_000  # of both samples; beyond, the error of the fit is negligible
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
    """Every divergence with an interval, by name (`DIVERGENCES`).

    A logistic regression is refitted to bootstrap samples (`tilted_intervals`). For any other
    model, a regression on its out-of-fold score is refitted instead; its divergence, between the
    two distributions of the score, is a lower bound. The upper end is the largest over all
    regressions whose held-out loss is not significantly worse than that of the chosen one and, if
    no difference was found, over weakly penalised regressions too.

    Args:
        scores: the cross-fit.
        x_0: its rows of p_0.
        x_1: its rows of p_1.
        confidence: level of the intervals.
        p_value: of a test of p_0 = p_1; unless it is below 1 − confidence, intervals start at 0.
            None if there was no test.
        rng: random numbers of the bootstrap.
    """
    is_found = p_value is None or p_value < 1.0 - confidence
    is_apart = regression_of(scores) is None and not _overlaps(scores)
    if is_apart or len(x_0) + len(x_1) > _MOST_ROWS:
        found = {name: _normal(name, scores, confidence) for name in DIVERGENCES}
    else:
        labels = np.repeat([0, 1], [len(x_0), len(x_1)])
        rivals = list(() if scores.choice is None else scores.choice.rivals)
        if scores.choice is not None and not is_found:
            # The held-out loss prefers a penalty that hides small differences.
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
    """The mean of the terms with a normal interval, both between 0 and the largest value.

    The standard error is at least 1/n, also where all terms are equal.
    """
    value = min(max(terms.estimate, 0.0), largest)
    error = max(terms.standard_error, 1.0 / min(terms.one.size, terms.zero.size))
    low, high = normal_interval(value, error, confidence)
    return IntervalEstimate(value, max(low, 0.0), min(high, largest))


def regression_of(scores: CrossFit) -> Pipeline | None:
    """The logistic regression of a cross-fit, which can be refitted; None for another model.

    Also None if it separates the samples: its coefficients then depend on the penalty, not on rows.
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
    """Features and penalty of the regression that is refitted; rows of x_0 first.

    For a model other than a regression, the features are hinges of its out-of-fold score.
    """
    pipeline = regression_of(scores)
    if pipeline is not None:
        return StandardScaler().fit_transform(design(pipeline, x_0, x_1)), _ridge(pipeline)
    # Each fold has its own normaliser.
    score = np.concatenate(fold_normalised(scores))[:, None]
    if np.ptp(score) > 1e-9:
        return StandardScaler().fit_transform(HingeColumns().fit_transform(score)), _RIDGE
    # The score is constant: bound the linear differences that the rows do not rule out.
    return design(logistic_pipeline("linear", _RIDGE), x_0, x_1), _RIDGE


def _overlaps(scores: CrossFit) -> bool:
    """Whether weighted rows of each sample represent the other."""
    both = (scores, scores.swapped)
    return all(WeightSupport.of(*fold_normalised(one)).is_enough for one in both)


def _normal(name: str, scores: CrossFit, confidence: float) -> IntervalEstimate:
    largest = {"jensen_shannon": math.log(2.0), "total_variation": 1.0}.get(name, math.inf)
    return normal_estimate(_terms(name, scores), confidence, largest)


def _terms(name: str, scores: CrossFit) -> Terms:
    formulas = {
        "kl": donsker_varadhan_terms,
        "jensen_shannon": jensen_shannon_terms,
        "total_variation": total_variation_terms,
        "chi2": chi2_terms,
    }
    kind = name.removesuffix("_reverse")
    return formulas[kind](scores if kind == name else scores.swapped)


_LARGEST = 150.0  # log ratio at which χ² is capped: any test function is allowed, overflow is not


@dataclass(frozen=True)
class Terms:
    """The terms of a divergence: mean(one) over rows of p_1 plus mean(zero) over rows of p_0."""

    one: Float[np.ndarray, " n_1"]
    zero: Float[np.ndarray, " n_0"]

    @property
    def estimate(self) -> float:
        """The sum of the two means."""
        return float(self.one.mean() + self.zero.mean())

    @property
    def standard_error(self) -> float:
        """The standard error for two independent samples."""
        parts = (x.var(ddof=1) / x.size for x in (self.one, self.zero))
        return math.sqrt(sum(parts))


def donsker_varadhan_terms(scores: CrossFit) -> Terms:
    """(J1), each fold with its own normaliser, less the bias of the logarithm of its mean."""
    zero, one = fold_normalised(scores)
    for k in range(scores.n_folds):
        bias = 0.5 * log_normaliser(zero[scores.fold_0 == k]).standard_error ** 2
        one[scores.fold_1 == k] -= bias
    return Terms(one, 1.0 - np.exp(zero))


def plain_mean_terms(scores: CrossFit) -> Terms:
    """mean_1(log r̂), which is no bound and needs no normaliser."""
    return Terms(scores.log_ratio_1, np.zeros(scores.log_ratio_0.size))


def jensen_shannon_terms(scores: CrossFit) -> Terms:
    """(J2): log 2 + ½ mean_1(log σ(g)) + ½ mean_0(log σ(−g))."""
    one, zero = log_expit(scores.log_ratio_1), log_expit(-scores.log_ratio_0)
    return Terms(0.5 * (math.log(2.0) + one), 0.5 * (math.log(2.0) + zero))


def chi2_terms(scores: CrossFit) -> Terms:
    """(J3): 2 mean_1(r̂) − mean_0(r̂²) − 1."""
    one, zero = (np.exp(np.minimum(g, _LARGEST)) for g in (scores.log_ratio_1, scores.log_ratio_0))
    return Terms(2.0 * one - 1.0, -(zero**2))


def total_variation_terms(scores: CrossFit) -> Terms:
    """(J4): mean_1(g > 0) − mean_0(g > 0)."""
    one, zero = (np.where(g > 0.0, 1.0, 0.0) for g in (scores.log_ratio_1, scores.log_ratio_0))
    return Terms(one, -zero)
