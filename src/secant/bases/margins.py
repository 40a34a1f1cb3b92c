"""Margins: map each column to a normal one by a monotone spline, with exact derivative (N1)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from secant.bases.charts import Chart, Rows, Values
from secant.bases.spline import MonotoneSpline

__all__ = ["NormalMargins"]

Column = Float[np.ndarray, " n"]

_FARTHEST = 4.0  # normal quantile of the outermost knots, unless the rows' extremes are nearer
_FEWEST_ROWS = 20  # between two knots
_FEWEST_VALUES = 8  # distinct values between two knots, so that no interval isolates an atom


class NormalMargins(Chart):
    """z_i = T_i(x_i), T_i increasing and continuously differentiable, z_i near N(0, 1).

    T_i is a spline through the normal quantiles of the column's distribution function, and a line
    beyond them: normal tails. Between two knots are at least 20 rows and 8 distinct values, so that
    a margin fits neither single rows nor the atoms of a discrete column.
    """

    splines: tuple[MonotoneSpline, ...]

    @classmethod
    def fitted(cls, x: Rows, n_bins: int) -> NormalMargins:
        """Fit the margins, with at most `n_bins` intervals each."""
        columns = np.asarray(x, dtype=np.float64).T
        return cls(tuple(_spline(column, n_bins) for column in columns))

    def __call__(self, x: Rows) -> Rows:
        """Rows with normal margins."""
        return np.stack([s(column) for s, column in self._columns(x)], axis=1)

    def inverse(self, y: Rows) -> Rows:
        """Rows in the original columns."""
        return np.stack([s.inverse(column) for s, column in self._columns(y)], axis=1)

    def log_volume(self, x: Rows) -> Values:
        """Σ_i log T_i'(x_i)."""
        total = np.zeros(x.shape[0])
        for spline, column in self._columns(x):
            total += np.log(spline.derivative(column))
        return total

    def _columns(self, x: Rows) -> list[tuple[MonotoneSpline, Column]]:
        return list(zip(self.splines, np.asarray(x, dtype=np.float64).T, strict=True))


def _spline(x: Column, n_bins: int) -> MonotoneSpline:
    values, counts = np.unique(x, return_counts=True)
    # Half of an atom counts as below it, so that the map passes through the middle of every jump.
    below = np.cumsum(counts) - 0.5 * counts
    scores = ndtri((below + 0.5) / (x.size + 1.0))
    chosen = _knot_positions(scores, below, n_bins)
    if chosen.size < 3:
        return _line(x)
    return MonotoneSpline.through(values[chosen], scores[chosen])


def _line(x: Column) -> MonotoneSpline:
    """A linear map that standardises, for columns with too few rows or values."""
    center, scale = float(x.mean()), max(float(x.std()), 1e-12)
    return MonotoneSpline.through(np.array([center - scale, center + scale]), np.array([-1.0, 1.0]))


def _knot_positions(scores: Column, below: Column, n_bins: int) -> Int[np.ndarray, " m"]:
    """Knots at equal steps in normal score, without those that have too few rows or values."""
    reach = min(_FARTHEST, -scores[0], scores[-1])
    wanted = np.searchsorted(scores, np.linspace(-reach, reach, n_bins + 1))
    kept = [int(wanted[0])]
    for position in np.minimum(wanted[1:], scores.size - 1).tolist():
        between = below[position] - below[kept[-1]]
        if between >= _FEWEST_ROWS and position - kept[-1] >= _FEWEST_VALUES:
            kept.append(position)
    return np.array(kept)
