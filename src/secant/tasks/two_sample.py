"""Do two samples come from one distribution? A permutation test of out-of-fold scores."""

from __future__ import annotations

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
from secant.tasks.permutation import (
    checked_permutations,
    combined_p_value,
    fold_p_values,
    pooled_p_value,
)


@dataclass(frozen=True, eq=False)
class TwoSampleTest(Summarised):
    """A test of p_0 = p_1.

    Attributes:
        statistic: (J5), 0 in expectation where the samples are alike and 1 where they are apart.
        p_value: of all rows together; at least 1/(1 + n_permutations).
        fold_p_values: (n_folds,) of each fold.
        n_permutations: of the labels in each fold; no fold's p-value is below 1/(1 + this).
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
    """Test p_0 = p_1 by what fits can tell apart in rows they have not seen.

    The statistic (J5) is `mean_1(σ(g)) − mean_0(σ(g))` with g = log r̂ out of fold. Within a fold
    the labels are permuted, which leaves its fit as it is, so each fold's p-value is exact for any
    estimator; the folds' are combined by the Cauchy combination, which dependence hardly touches.
    A poor fit costs power, never validity. Rows must be independent of each other. Without an
    estimator the test is (J9), of all rows at once, with which no row is spent on training.

    Args:
        x_0: (n_0, d) rows of p_0.
        x_1: (n_1, d) rows of p_1.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: parts of the rows; each is scored by fits on the others.
        n_ensemble: fits a fold, whose log ratios are averaged.
        n_permutations: of the labels in each fold.
        random_state: seed of the folds, the fits and the permutations.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (500, 2)), rng.normal(0.3, 1, (500, 2))
        >>> ratio = secant.SklearnRatio()
        >>> bool(secant.two_sample_test(x_0, x_1, estimator=ratio, random_state=0).p_value < 0.01)
        True
    """
    checked_permutations(n_permutations)
    rng = check_random_state(random_state)
    scores = cross_fit(
        estimator, x_0, x_1, n_folds=n_folds, n_ensemble=n_ensemble, random_state=rng
    )
    rows_0, rows_1 = checked_rows(x_0, "x_0"), checked_rows(x_1, "x_1")
    return tested(scores, rows_0, rows_1, n_permutations=n_permutations, rng=rng)


def tested(
    scores: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    *,
    n_permutations: int,
    rng: np.random.RandomState,
) -> TwoSampleTest:
    """The test of a cross-fit.

    Where the model was chosen here, the pooled test (J9) is asked; where that model is no
    regression, which the pooled test could not see further than, its folds are asked as well.
    """
    folds = fold_p_values(scores.by_fold(), n_permutations=n_permutations, rng=rng)
    p_value = combined_p_value(folds)
    if scores.choice is not None:
        pooled = pooled_p_value(x_0, x_1, n_permutations=n_permutations, rng=rng)
        is_regression = regression_of(scores) is not None
        p_value = pooled if is_regression else combined_p_value([pooled, p_value])
    statistic = float(np.mean(expit(scores.log_ratio_1)) - np.mean(expit(scores.log_ratio_0)))
    return TwoSampleTest(statistic, p_value, folds, n_permutations, scores)
