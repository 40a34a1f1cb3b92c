"""Blocks of a page: plain values that the template lays out."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from secant.report.numbers import number
from secant.report.svg import Drawing


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind = "text"


@dataclass(frozen=True)
class Note:
    """A caveat."""

    text: str
    kind = "note"


@dataclass(frozen=True)
class Code:
    """Code to copy."""

    text: str
    label: str
    kind = "code"


@dataclass(frozen=True)
class Pairs:
    """Names and values."""

    pairs: Sequence[tuple[str, str]]
    kind = "pairs"


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval, and as text."""

    label: str
    estimate: float
    low: float
    high: float
    confidence: float
    text: str
    hint: str = ""

    @property
    def ends(self) -> str:
        """The interval as text."""
        low, high = number(self.low), number(self.high)
        return f"{100 * self.confidence:g} % interval {low} to {high}"


@dataclass(frozen=True)
class Intervals:
    """Estimates on one scale, from 0 to 100 per cent of the width."""

    rows: Sequence[Interval]
    unit: str
    kind = "intervals"

    @property
    def axis(self) -> Axis:
        """From 0 or below to the largest upper end."""
        ends = [0.0, *(end for row in self.rows for end in (row.low, row.high))]
        return axis(self.unit, ends, (2.0, 97.0), 4)


@dataclass(frozen=True)
class Gauge:
    """A share between 0 and 1, with a mark below which it is too little."""

    label: str
    share: float
    text: str
    least: float | None = None
    hint: str = ""


@dataclass(frozen=True)
class Gauges:
    """Several gauges in a column."""

    gauges: Sequence[Gauge]
    kind = "gauges"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    is_number: bool = True


@dataclass(frozen=True)
class Bar:
    """A bar in a cell, in per cent of the cell's width: from where to where, and its error."""

    zero: float
    start: float
    width: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and its sort key; None sorts by the text."""

    text: str
    value: float | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by its headers."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    kind = "table"


@dataclass(frozen=True)
class HeatMap:
    """A square table whose cells are shaded by a share from 0 to 1."""

    caption: str
    names: Sequence[str]
    cells: Sequence[Sequence[tuple[str, float]]]
    kind = "heatmap"


@dataclass(frozen=True)
class Picture:
    """A PNG file, embedded."""

    path: Path
    text: str
    kind = "picture"

    @property
    def data(self) -> str:
        """The file in base64."""
        return base64.b64encode(self.path.read_bytes()).decode("ascii")


@dataclass(frozen=True)
class Columns:
    """Blocks side by side where there is room."""

    blocks: Sequence[Block]
    kind = "columns"


Block = (
    Text | Note | Code | Pairs | Intervals | Gauges | Table | HeatMap | Picture | Columns | Drawing
)


@dataclass(frozen=True)
class Section:
    """A heading with blocks below it.

    Attributes:
        title: the heading.
        blocks: below it.
        short: a name for the list of sections; empty is the title.
        is_folded: whether the blocks show only once the heading is clicked.
    """

    title: str
    blocks: Sequence[Block]
    short: str = ""
    is_folded: bool = False


@dataclass(frozen=True)
class Axis:
    """A linear scale from values to places on the page.

    Attributes:
        label: what it measures, with its unit.
        low: the value at `start`.
        high: the value at `end`.
        start: a place, in per cent of the width.
        end: the same.
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
        place: start and end, in per cent of the width.
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
