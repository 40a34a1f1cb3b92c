"""Blocks of a page: plain values that the template lays out."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from secant.report.charts import Axis, Chart

__all__ = [
    "Bar",
    "Block",
    "Cell",
    "Code",
    "Column",
    "Columns",
    "Gauge",
    "Gauges",
    "HeatMap",
    "Interval",
    "Intervals",
    "Note",
    "Pairs",
    "Picture",
    "Section",
    "Table",
    "Text",
]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = field(default="text", init=False)


@dataclass(frozen=True)
class Note:
    """A caveat."""

    text: str
    kind: str = field(default="note", init=False)


@dataclass(frozen=True)
class Code:
    """Code to copy."""

    text: str
    label: str
    kind: str = field(default="code", init=False)


@dataclass(frozen=True)
class Pairs:
    """Names and values."""

    pairs: Sequence[tuple[str, str]]
    kind: str = field(default="pairs", init=False)


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval, and as text."""

    label: str
    estimate: float
    low: float
    high: float
    text: str
    ends: str
    hint: str = ""


@dataclass(frozen=True)
class Intervals:
    """Estimates on one scale; `axis` runs from 0 to 100."""

    rows: Sequence[Interval]
    axis: Axis
    kind: str = field(default="intervals", init=False)


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
    kind: str = field(default="gauges", init=False)


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
    kind: str = field(default="table", init=False)


@dataclass(frozen=True)
class HeatMap:
    """A square table whose cells are shaded by a share from 0 to 1."""

    caption: str
    names: Sequence[str]
    cells: Sequence[Sequence[tuple[str, float]]]
    kind: str = field(default="heatmap", init=False)


@dataclass(frozen=True)
class Picture:
    """A PNG file, embedded."""

    path: Path
    text: str
    kind: str = field(default="picture", init=False)

    @property
    def data(self) -> str:
        """The file in base64."""
        return base64.b64encode(self.path.read_bytes()).decode("ascii")


@dataclass(frozen=True)
class Columns:
    """Blocks side by side where there is room."""

    blocks: Sequence[Block]
    kind: str = field(default="columns", init=False)


Block = (
    Text | Note | Code | Pairs | Intervals | Gauges | Table | HeatMap | Picture | Columns | Chart
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
