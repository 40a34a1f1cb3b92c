"""Figures of merit of methods, from rows; lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from secant_bench.density.rows import DensityRow
from secant_bench.information.rows import InformationRow
from secant_bench.rows import Row, Run

__all__ = [
    "Scores",
    "absolute",
    "by_reliability",
    "excess",
    "nll",
    "rmse",
    "scores",
    "square",
    "squared",
]

_Kind = TypeVar("_Kind", bound=Run)
Scores = Mapping[str, float]  # method → error or likelihood


def scores(rows: Sequence[_Kind], task: str, score: Callable[[_Kind], float | None]) -> Scores:
    """The mean of each method over tasks with this prefix, at its best number of evaluations."""
    found: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        value = score(row)
        if row.task.startswith(task) and value is not None:
            place = (row.method, getattr(row, "evaluations", None) or 0)
            found.setdefault(place, []).append(value)
    means: dict[str, float] = {}
    for (method, _), values in found.items():
        means[method] = min(means.get(method, np.inf), float(np.mean(values)))
    return means


def square(row: Row) -> float | None:
    """Squared error of the mean log ratio over p_1."""
    return None if row.error is None else row.error**2


def rmse(row: Row) -> float | None:
    """Root mean square error of the log ratio over rows of p_1."""
    return row.rmse_1


def squared(row: InformationRow) -> float | None:
    """Squared error of mutual information."""
    return None if row.estimate is None else (row.estimate - row.truth) ** 2


def absolute(row: InformationRow) -> float | None:
    """Absolute error of mutual information."""
    return None if row.estimate is None else abs(row.estimate - row.truth)


def nll(row: DensityRow) -> float | None:
    """Mean −log density of test rows."""
    return row.nll


def by_reliability(rows: Sequence[DensityRow]) -> tuple[list[DensityRow], list[DensityRow]]:
    """Rows with a reliable normaliser, and the others.

    A ratio with underestimated mass would have too high a likelihood. All seeds of a method are
    treated alike, because the reliable ones alone would be a biased sample.
    """
    doubted = {_group(row) for row in rows if row.is_doubtful}
    kept = [row for row in rows if _group(row) not in doubted]
    return kept, [row for row in rows if _group(row) in doubted]


def _group(row: DensityRow) -> tuple[str, str, int]:
    return row.task, row.method, row.evaluations


def excess(row: DensityRow) -> float | None:
    """Mean −log density minus that of the true density."""
    return None if row.nll is None or row.truth is None else row.nll - row.truth
