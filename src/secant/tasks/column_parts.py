"""The parts of a table that are reported: single columns, and groups of columns as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from secant.diagnostics.drift import FeatureDrift, feature_drift
from secant.tables.groups import ColumnGroup, single_columns
from secant.tasks.cross_fitting import cross_fit
from secant.tasks.inference import pooled_p_value
from secant.tasks.model_choice import best_regression

__all__ = ["ColumnPart", "column_parts"]

_MOST_ROWS = 10_000  # of each sample, for the score of a group
_FOLDS = 2


class _Scores(NamedTuple):
    zero: Float[np.ndarray, " n"]
    one: Float[np.ndarray, " m"]


@dataclass(frozen=True, eq=False)
class ColumnPart:
    """A column, or a group of columns with one score.

    Attributes:
        margin: the part by itself; for a group, shift and distance of its score, and the p-value
            of the joint test (J9) of its columns.
        columns: numbers of its columns.
        zero: values of x_0's rows; for a group, the out-of-fold log ratio of its columns alone.
        one: values of x_1's rows.
    """

    margin: FeatureDrift
    columns: tuple[int, ...]
    zero: Float[np.ndarray, " n"] = field(repr=False)
    one: Float[np.ndarray, " m"] = field(repr=False)


def column_parts(
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    names: Sequence[str],
    groups: Sequence[ColumnGroup] = (),
    *,
    n_permutations: int,
    seed: int,
) -> tuple[ColumnPart, ...]:
    """Single columns in their order, then the groups.

    Args:
        x_0: rows of p_0.
        x_1: rows of p_1.
        names: of the d columns.
        groups: of columns.
        n_permutations: for the joint test of a group.
        seed: of scores and tests of groups.
    """
    singles = single_columns(x_0.shape[1], groups)
    drift = _drift(x_0[:, singles], x_1[:, singles], [names[i] for i in singles])
    columns = [
        ColumnPart(margin, (int(i),), x_0[:, i], x_1[:, i])
        for i, margin in zip(singles, drift, strict=True)
    ]
    rng = np.random.RandomState(seed)
    together = [
        _alone(group, x_0, x_1)
        if len(group.columns) == 1
        else _group(group, x_0, x_1, n_permutations, rng)
        for group in groups
    ]
    return (*columns, *together)


def _drift(
    x_0: Float[np.ndarray, "n k"], x_1: Float[np.ndarray, "m k"], names: Sequence[str]
) -> tuple[FeatureDrift, ...]:
    return feature_drift(x_0, x_1, names) if names else ()


def _alone(
    group: ColumnGroup, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> ColumnPart:
    """A group of one column: that column under the name of the group."""
    zero, one = (x[:, list(group.columns)] for x in (x_0, x_1))
    margin = feature_drift(zero, one, [group.name])[0]
    return ColumnPart(margin, group.columns, zero[:, 0], one[:, 0])


def _group(
    group: ColumnGroup,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    n_permutations: int,
    rng: np.random.RandomState,
) -> ColumnPart:
    own = list(group.columns)
    rows_0, rows_1 = (x[np.sort(rng.permutation(len(x))[:_MOST_ROWS])][:, own] for x in (x_0, x_1))
    varied = np.ptp(np.concatenate([rows_0, rows_1]), axis=0) > 0.0
    if not varied.any():
        zero, one = np.zeros(len(rows_0)), np.zeros(len(rows_1))
        return ColumnPart(FeatureDrift(group.name, 0.0, 0.0, 1.0), group.columns, zero, one)
    rows_0, rows_1 = rows_0[:, varied], rows_1[:, varied]
    scores = _scores(rows_0, rows_1, rng)
    margin = feature_drift(scores.zero[:, None], scores.one[:, None], [group.name])[0]
    p_value = pooled_p_value(rows_0, rows_1, n_permutations=n_permutations, rng=rng, singles=())
    joint = FeatureDrift(group.name, margin.mean_shift, margin.ks_distance, p_value)
    return ColumnPart(joint, group.columns, *scores)


def _scores(
    x_0: Float[np.ndarray, "n k"], x_1: Float[np.ndarray, "m k"], rng: np.random.RandomState
) -> _Scores:
    """The out-of-fold log ratio of a regression on some columns."""
    fits = cross_fit(best_regression(x_0, x_1, rng), x_0, x_1, n_folds=_FOLDS, random_state=rng)
    return _Scores(fits.log_ratio_0, fits.log_ratio_1)
