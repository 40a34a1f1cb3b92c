"""Normal margins: monotone rational-quadratic splines of the columns, in closed form (N1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from secant.bases.charts import Chart, Rows, Values

_FARTHEST = 4.0  # normal quantile of the outermost knots, unless the rows' extremes are nearer
_FEWEST_ROWS = 20  # between two knots
_FEWEST_VALUES = 8  # distinct values between two knots, so that no interval isolates an atom


class NormalMargins(Chart):
    """z_i = T_i(x_i), T_i increasing and continuously differentiable, z_i near N(0, 1).

    T_i is a spline through the normal quantiles of the column's distribution function, and a line
    beyond them, so tails are normal. Between two knots are at least 20 rows and 8 distinct values,
    so that a margin fits neither single rows nor the atoms of a discrete column.
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

    def _columns(self, x: Rows) -> list[tuple[MonotoneSpline, Values]]:
        return list(zip(self.splines, np.asarray(x, dtype=np.float64).T, strict=True))


def _spline(x: Values, n_bins: int) -> MonotoneSpline:
    values, counts = np.unique(x, return_counts=True)
    # Half of an atom counts as below it, so that the map passes through the middle of every jump.
    below = np.cumsum(counts) - 0.5 * counts
    scores = ndtri((below + 0.5) / (x.size + 1.0))
    chosen = _knot_positions(scores, below, n_bins)
    if chosen.size < 3:
        return _line(x)
    return MonotoneSpline.through(values[chosen], scores[chosen])


def _line(x: Values) -> MonotoneSpline:
    """A linear map that standardises, for columns with too few rows or values."""
    center, scale = float(x.mean()), max(float(x.std()), 1e-12)
    return MonotoneSpline.through(np.array([center - scale, center + scale]), np.array([-1.0, 1.0]))


def _knot_positions(scores: Values, below: Values, n_bins: int) -> Int[np.ndarray, " m"]:
    """Knots at equal steps in normal score, without those that have too few rows or values."""
    reach = min(_FARTHEST, -scores[0], scores[-1])
    wanted = np.searchsorted(scores, np.linspace(-reach, reach, n_bins + 1))
    kept = [int(wanted[0])]
    for position in np.minimum(wanted[1:], scores.size - 1).tolist():
        between = below[position] - below[kept[-1]]
        if between >= _FEWEST_ROWS and position - kept[-1] >= _FEWEST_VALUES:
            kept.append(position)
    return np.array(kept)


Knots = Float[np.ndarray, " m"]


class Segment(NamedTuple):
    """The interval of each value, with the quantities in (N1).

    Works on arrays of NumPy and of JAX, so that exported programs use the same formulas.
    """

    left: Any
    width: Any
    low: Any
    height: Any
    slope_left: Any
    slope_right: Any

    @property
    def step(self) -> Any:  # noqa: ANN401
        """s, the slope of the chord."""
        return self.height / self.width

    @property
    def bend(self) -> Any:  # noqa: ANN401
        """d_k + d_{k+1} − 2s."""
        return self.slope_left + self.slope_right - 2.0 * self.step

    def rise(self, xi: Any) -> Any:  # noqa: ANN401
        """z − z_k at the share ξ of the interval (N1)."""
        curve = xi * (1.0 - xi)
        top = self.step * xi**2 + self.slope_left * curve
        return self.height * top / (self.step + self.bend * curve)

    def slope(self, xi: Any) -> Any:  # noqa: ANN401
        """dz/dx at the share ξ of the interval."""
        curve = xi * (1.0 - xi)
        ends = self.slope_right * xi**2 + self.slope_left * (1.0 - xi) ** 2
        top = self.step**2 * (ends + 2.0 * self.step * curve)
        return top / (self.step + self.bend * curve) ** 2


class MonotoneSpline(eqx.Module):
    """x ↦ z, increasing and continuously differentiable; a straight line beyond the outer knots.

    In an interval of width Δx and height Δz, with s = Δz/Δx, ξ = (x − x_k)/Δx and slopes d at its
    ends, `z = z_k + Δz (s ξ² + d_k ξ(1−ξ)) / (s + (d_k + d_{k+1} − 2s) ξ(1−ξ))` (N1).

    Attributes:
        knots: increasing x_k.
        levels: increasing z_k.
        slopes: positive d_k.

    References:
        [@gregory1982piecewise]
    """

    knots: Knots
    levels: Knots
    slopes: Knots

    @classmethod
    def through(cls, knots: Knots, levels: Knots) -> MonotoneSpline:
        """The spline whose slope at a knot is the harmonic mean of the chords on either side."""
        chord = np.diff(levels) / np.diff(knots)
        inner = 2.0 / (1.0 / chord[:-1] + 1.0 / chord[1:])
        return cls(knots, levels, np.concatenate([chord[:1], inner, chord[-1:]]))

    def __call__(self, x: Values) -> Values:
        """z at each x."""
        at = self._segment(x, self.knots)
        rise = at.rise(np.clip((x - at.left) / at.width, 0.0, 1.0))
        below, above = self._beyond(x, self.knots)
        return np.asarray(at.low + rise + below * self.slopes[0] + above * self.slopes[-1])

    def derivative(self, x: Values) -> Values:
        """dz/dx at each x."""
        at = self._segment(x, self.knots)
        return np.asarray(at.slope(np.clip((x - at.left) / at.width, 0.0, 1.0)))

    def inverse(self, z: Values) -> Values:
        """x at each z: the root of a quadratic in ξ."""
        at = self._segment(z, self.levels)
        rise = np.clip(z - at.low, 0.0, at.height)
        a = at.height * (at.step - at.slope_left) + rise * at.bend
        b = at.height * at.slope_left - rise * at.bend
        root = np.sqrt(np.maximum(b**2 + 4.0 * a * at.step * rise, 0.0))
        xi = 2.0 * at.step * rise / (b + root)  # this form of the root avoids cancellation
        below, above = self._beyond(z, self.levels)
        x = at.left + at.width * xi + below / self.slopes[0] + above / self.slopes[-1]
        return np.asarray(x)

    def _segment(self, place: Values, edges: Knots) -> Segment:
        k = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, edges.size - 2)
        return Segment(
            self.knots[k],
            np.diff(self.knots)[k],
            self.levels[k],
            np.diff(self.levels)[k],
            self.slopes[k],
            self.slopes[k + 1],
        )

    @staticmethod
    def _beyond(place: Values, edges: Knots) -> tuple[Values, Values]:
        """How far each value lies below the first edge (≤ 0) and above the last (≥ 0)."""
        return np.minimum(place - edges[0], 0.0), np.maximum(place - edges[-1], 0.0)
