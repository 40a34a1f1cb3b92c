"""Axes of charts: round ticks, and the position of a value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from secant.report.numbers import number

__all__ = ["Axis", "axis", "round_ticks"]


@dataclass(frozen=True)
class Axis:
    """A linear scale from values to coordinates of the drawing.

    Attributes:
        label: what it measures, with its unit.
        low: the value at `start`.
        high: the value at `end`.
        start: in units of the chart.
        end: the same; below `start` on an upward axis.
        ticks: values marked.
    """

    label: str
    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """The position of a value, clipped to the ends; NaN is at the start."""
        if math.isnan(value):
            return self.start
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Position and label of every tick."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        return [(self(tick), _tick_text(tick, step)) for tick in self.ticks]


def axis(label: str, values: ArrayLike, place: tuple[float, float], n_ticks: int = 5) -> Axis:
    """An axis that contains all finite values, with a margin.

    Args:
        label: what it measures.
        values: to be contained.
        place: start and end in the drawing.
        n_ticks: approximate number of ticks.
    """
    low, high = _ends(np.asarray(values, dtype=np.float64))
    return Axis(label, low, high, *place, round_ticks(low, high, n_ticks))


def round_ticks(low: float, high: float, n: int = 5) -> tuple[float, ...]:
    """About n multiples of 1, 2 or 5 times a power of ten between two ends."""
    raw = (high - low) / n
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(s - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(k * step for k in range(first, last + 1))


def _ends(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    room = 0.04 * (high - low)
    # A single value, or values equal up to rounding, still need a scale.
    if room <= 1e-9 * max(abs(low), abs(high), 1e-12):
        room = max(0.5 * abs(low), 0.5)
    return low - room, high + room


def _tick_text(tick: float, step: float) -> str:
    if abs(tick) < 1e-9 * step:
        return "0"
    if not 1e-3 <= step < 1e5 or abs(tick) >= 1e6:
        return number(tick, 2)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{tick:,.{places}f}".replace("-", "−")
