"""Two-sample tests of p_0 = p_1, by permutation of out-of-fold scores or of pooled rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state

from secant._host.notebook import Summarised
from secant.estimators import RatioEstimator
from secant.estimators.checks import checked_rows
from secant.tasks.cross_fitting import CrossFit, cross_fit
from secant.tasks.divergence_intervals import regression_of
from secant.tasks.inference import (
    checked_permutations,
    combined_p_value,
    fold_p_values,
    pooled_p_value,
)


@dataclass(frozen=True, eq=False)
class TwoSampleTest(Summarised):
    """A test of p_0 = p_1.

    Attributes:
        statistic: (J5), with expectation 0 for equal distributions and 1 for disjoint ones.
        p_value: for all rows; at least 1/(1 + n_permutations).
        fold_p_values: (n_folds,) p-value of each fold.
        n_permutations: permutations of the labels in each fold.
        cross_fit: the out-of-fold log ratios and the fits behind them.
    """

    statistic: float
    p_value: float
    fold_p_values: Float[np.ndarray, " n_folds"] = field(repr=False)
    n_permutations: int
    cross_fit: CrossFit = field(repr=False)

    def __str__(self) -> str:
        return (
            f"two-sample test: statistic {self.statistic:.4g}, p-value {self.p_value:.3g} "
            f"({self.fold_p_values.size} folds, {self.n_permutations} permutations each)"
        )


def two_sample_test(
    x_0: ArrayLike,
    x_1: ArrayLike,
    *,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_ensemble: int = 1,
    n_permutations: int = 999,
    random_state: int | np.random.RandomState | None = None,
) -> TwoSampleTest:
    """Test p_0 = p_1 by the out-of-fold scores of a classifier.

    The statistic (J5) is `mean_1(σ(g)) − mean_0(σ(g))` with the out-of-fold g = log r̂. Labels are
    permuted within a fold, so each fold's p-value is exact for any estimator; they are combined by
    the Cauchy combination, which is insensitive to dependence. A poor fit costs power, not
    validity. Rows must be independent of each other. Without an estimator the test is (J9), which
    uses all rows at once and needs no training.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: number of folds.
        n_ensemble: fits per fold, whose log ratios are averaged.
        n_permutations: permutations of the labels in each fold.
        random_state: random seed.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (500, 2)), rng.normal(0.3, 1, (500, 2))
        >>> bool(secant.two_sample_test(x_0, x_1, random_state=0).p_value < 0.01)
        True
    """
    checked_permutations(n_permutations)
    rng = check_random_state(random_state)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=rng
    )
    rows_0, rows_1 = checked_rows(x_0, "x_0"), checked_rows(x_1, "x_1")
    return tested(scores, rows_0, rows_1, n_permutations=n_permutations, rng=rng, singles=None)


def tested(
    scores: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
    singles: Iterable[int] | None,
) -> TwoSampleTest:
    """The test from a cross-fit.

    If the model was chosen automatically, the p-value is that of the pooled test (J9). If the
    chosen model is not a regression, it is combined with the p-values of the folds, since such a
    model may detect differences that the pooled test cannot. `singles` is as in `pooled_p_value`.
    """
    folds = fold_p_values(scores.by_fold(), n_permutations=n_permutations, rng=rng)
    p_value = combined_p_value(folds)
    if scores.choice is not None:
        pooled = pooled_p_value(x_0, x_1, n_permutations=n_permutations, rng=rng, singles=singles)
        is_regression = regression_of(scores) is not None
        p_value = pooled if is_regression else combined_p_value([pooled, p_value])
    statistic = float(np.mean(expit(scores.log_ratio_1)) - np.mean(expit(scores.log_ratio_0)))
    return TwoSampleTest(statistic, p_value, folds, n_permutations, scores)
