"""Small charts as drawings of a few shapes; the template turns them into SVG.

Colours are CSS classes, so that charts follow the light or dark theme. Shapes hold coordinates
only; texts are escaped by the template.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from secant.report.numbers import number

__all__ = [
    "HEIGHT",
    "WIDTH",
    "Axis",
    "Chart",
    "Dot",
    "Key",
    "Line",
    "Shape",
    "axis",
    "path_of",
    "places",
    "plane",
    "round_ticks",
]

WIDTH, HEIGHT = 480, 324
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 470, 32, 268


@dataclass(frozen=True)
class Line:
    """An open or closed line: SVG path data and a CSS class."""

    data: str
    look: str


@dataclass(frozen=True)
class Dot:
    """A point."""

    x: float
    y: float
    look: str
    radius: float = 4.0


Shape = Line | Dot


@dataclass(frozen=True)
class Key:
    """An entry of the legend."""

    look: str
    text: str


@dataclass(frozen=True)
class Chart:
    """A chart with its texts.

    Attributes:
        title: a headline.
        description: alternative text.
        x: the axis below.
        y: the axis to the left.
        shapes: in drawing order.
        keys: the legend.
        caption: how to read it.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    shapes: Sequence[Shape]
    keys: Sequence[Key] = ()
    caption: str = ""
    kind: str = "chart"
    width: int = WIDTH
    height: int = HEIGHT


def plane(
    x: tuple[str, ArrayLike], y: tuple[str, ArrayLike], *, n_ticks: tuple[int, int] = (5, 5)
) -> tuple[Axis, Axis]:
    """Two axes, each from its label and the values it must contain."""
    return (
        axis(*x, (_LEFT, _RIGHT), n_ticks[0]),
        axis(*y, (_BOTTOM, _TOP), n_ticks[1]),
    )


def path_of(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """SVG path data through points."""
    data = "L".join(f"{x:.2f} {y:.2f}" for x, y in points)
    return f"M{data}{'Z' if closed else ''}" if data else ""


def places(x: Axis, y: Axis, values: ArrayLike) -> list[tuple[float, float]]:
    """Coordinates of finite points (n, 2)."""
    points = np.asarray(values, dtype=np.float64)
    return [(x(a), y(b)) for a, b in points[np.isfinite(points).all(axis=1)].tolist()]


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
        texts: what is written there; empty writes the values.
    """

    label: str
    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    texts: tuple[str, ...] = ()

    def __call__(self, value: float) -> float:
        """The position of a value, clipped to the ends; NaN is at the start."""
        if math.isnan(value):
            return self.start
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Position and label of every tick."""
        if self.texts:
            return [(self(tick), text) for tick, text in zip(self.ticks, self.texts, strict=True)]
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
