"""Compare rows of a stream with a reference by models that take about a second."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from secant.estimators import RatioEstimator, SklearnRatio
from secant.exceptions import ConstantColumnWarning
from secant.tasks.column_bases import logistic_pipeline
from secant.tasks.comparison import compare
from secant.tasks.comparison_result import Comparison
from secant.tasks.cross_fitting import cross_fit
from secant.tasks.model_choice import are_apart, bases_for
from secant.tasks.monitoring_result import ReferenceBand

__all__ = ["MOST_ROWS", "WindowPlan", "quick_comparison", "reference_band"]

# A window is watched, not studied: more rows hardly narrow an interval and cost seconds each night.
MOST_ROWS = 4_000
_MOST_REFERENCE = 5_000
_BLOCKS = 10  # of the reference, for its band

Rows = Float[np.ndarray, "n d"]


class WindowPlan(NamedTuple):
    """How windows are compared.

    Attributes:
        sample_names: what reference and stream are called.
        feature_names: of the columns.
        estimator: None chooses one for each window.
        n_permutations: for the p-value of a window.
        confidence: level of the intervals.
        seed: of everything random.
    """

    sample_names: tuple[str, str]
    feature_names: tuple[str, ...]
    estimator: RatioEstimator | None
    n_permutations: int
    confidence: float
    seed: int


def quick_comparison(
    x_0: Rows,
    x_1: Rows,
    names: tuple[str, str],
    plan: WindowPlan,
    rng: np.random.Generator,
) -> Comparison:
    """Rows against a reference, of which 5,000 rows are taken."""
    few = x_0[np.sort(rng.permutation(len(x_0))[:_MOST_REFERENCE])]
    with warnings.catch_warnings():
        # Of a column that never changes, every window would warn.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        return compare(
            few,
            x_1,
            feature_names=plan.feature_names,
            sample_names=names,
            estimator=_quick(few, x_1, plan),
            n_permutations=plan.n_permutations,
            confidence=plan.confidence,
            random_state=plan.seed,
            progress=False,
        )


def _quick(x_0: Rows, x_1: Rows, plan: WindowPlan) -> RatioEstimator | None:
    """The estimator of a window; a regression if it is apart, for which `compare` trains a path."""
    if plan.estimator is not None:
        return plan.estimator
    for basis in bases_for(min(len(x_0), len(x_1)), x_0.shape[1]):
        model = SklearnRatio(logistic_pipeline(basis, 1.0), folds=None)
        scores = cross_fit(model, x_0, x_1, n_folds=2, random_state=plan.seed)
        if are_apart(scores.log_ratio_0, scores.log_ratio_1):
            return model
    return None


def reference_band(x_0: Rows, size: int, plan: WindowPlan, *, in_time: bool) -> ReferenceBand:
    """Blocks of the reference against the rest of it.

    Args:
        x_0: rows of the reference.
        size: rows of a block.
        plan: how windows are compared.
        in_time: whether rows are in the order of time, so that blocks are consecutive rows.
    """
    n_blocks = min(_BLOCKS, len(x_0) // size)
    if n_blocks < 3:
        return ReferenceBand(0, size)
    rng = np.random.default_rng([plan.seed, 3])
    order = np.arange(len(x_0)) if in_time else rng.permutation(len(x_0))
    found = []
    for start in np.linspace(0, len(x_0) - size, n_blocks).astype(int):
        block = order[start : start + size]
        rest = np.setdiff1d(order, block, assume_unique=True)
        found.append(quick_comparison(x_0[rest], x_0[block], ("the rest", "a block"), plan, rng))
    return ReferenceBand(
        n_blocks,
        size,
        min(f.overlap for f in found),
        max(f.kl.estimate for f in found),
        sum(f.p_value < 0.05 for f in found),
        in_time,
    )
