"""Common steps of preparation: splitting, standardising, dropping columns."""

import numpy as np
from numpy.typing import NDArray

from secant_bench.real_tables.table import Rows

__all__ = ["Splits", "has_ties_at_its_minimum", "hold_out", "split", "standardised"]

Matrix = NDArray[np.float64]
Splits = tuple[Matrix, Matrix, Matrix]

_MOST_TIES = 5


def split(rows: Matrix) -> Splits:
    """Train, validation and test: the last 10 % are test, the last 10 % of the rest validation."""
    rest, test = hold_out(rows)
    train, validation = hold_out(rest)
    return train, validation, test


def hold_out(rows: Matrix) -> tuple[Matrix, Matrix]:
    """All but the last 10 % of the rows (rounded down), and the last 10 %."""
    n_kept = len(rows) - int(0.1 * len(rows))
    return rows[:n_kept], rows[n_kept:]


def standardised(splits: Splits, mean: Matrix, scale: Matrix) -> tuple[Rows, Rows, Rows]:
    """`(x − mean)/scale` of each split, rounded to float32 last."""
    train, validation, test = (((rows - mean) / scale).astype(np.float32) for rows in splits)
    return train, validation, test


def has_ties_at_its_minimum(rows: Matrix) -> NDArray[np.bool_]:
    """(d,): whether the smallest value of a column occurs more than five times.

    Such a column has an atom, where a density is infinite.
    """
    return np.asarray((rows == rows.min(axis=0)).sum(axis=0) > _MOST_TIES)
