"""Cut the rows of a table into windows: of time, or of a number of rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from secant.tables.errors import TableError, shown
from secant.tables.kinds import Kind, is_missing, kind_of, numbers, plain, texts

__all__ = ["Every", "WindowRows", "Windows", "cut", "order_in_time"]

_MOST_WINDOWS = 10_000
_MICROSECONDS = {"min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_MICROSECONDS["w"] = 7 * _MICROSECONDS["d"]
_MONDAY = 3 * _MICROSECONDS["d"]  # from the Monday before to the start of 1970, a Thursday
_EXPECTED = (
    'expected a number of rows, or a number and one of "min", "h", "d", "w" and "mo", such as "1d"'
)


@dataclass(frozen=True)
class Every:
    """The length of a window.

    Attributes:
        count: how many.
        unit: "rows", "min", "h", "d", "w" (from Monday) or "mo" (calendar months).
    """

    count: int
    unit: str

    @classmethod
    def of(cls, value: object) -> Every:
        """From 500 (rows) or a text such as "500", "1d", "6h" and "1mo"."""
        text = str(value).strip().lower()
        found = re.fullmatch(r"(\d{1,9})\s*(min|h|d|w|mo|)", text)
        if isinstance(value, bool) or not isinstance(value, int | np.integer | str) or not found:
            raise ValueError(f"`every` is {shown(text)}; {_EXPECTED}.")
        count, unit = int(found[1]), found[2] or "rows"
        if count < (2 if unit == "rows" else 1):
            raise ValueError(f"`every` is {shown(text)}, too short a window; {_EXPECTED}.")
        return cls(count, unit)

    @property
    def is_time(self) -> bool:
        """Whether windows are of time rather than of rows."""
        return self.unit != "rows"

    def __str__(self) -> str:
        return f"{self.count} rows" if self.unit == "rows" else f"{self.count}{self.unit}"


@dataclass(frozen=True, eq=False)
class WindowRows:
    """The rows of one window.

    Attributes:
        label: when it starts, or its rows if there are no times.
        rows: numbers in the table, in the order of time.
        is_complete: whether no further row can belong to it, as long as rows come in order.
    """

    label: str
    rows: Int[np.ndarray, " n"]
    is_complete: bool


@dataclass(frozen=True)
class Windows:
    """All windows from the first row to the last, empty ones included.

    Attributes:
        windows: in the order of time.
        is_sorted: whether the table's rows were in that order.
        zone: of the labels; empty where times have none.
    """

    windows: tuple[WindowRows, ...]
    is_sorted: bool
    zone: str = ""


def cut(
    table: pa.Table | None,
    time: str | None,
    every: Every,
    *,
    rows: Int[np.ndarray, " k"],
    last_is_complete: bool = False,
) -> Windows:
    """Cut rows into windows.

    Days, weeks and months are those of the column's time zone; hours and minutes are those of UTC
    if it has one, so that none is cut out or doubled in spring and autumn.

    Args:
        table: with the column of times; None without one.
        time: that column; None takes the rows as they come.
        every: the length.
        rows: numbers of the rows that count.
        last_is_complete: whether the last window counts as complete.

    Raises:
        TableError: If the column is no time, has gaps, or there are too many windows.
    """
    if table is None or time is None:
        if every.is_time:
            raise ValueError(
                f"Windows of {every} need a column of times: name it by `time` (--time), or give "
                "`every` as a number of rows."
            )
        return Windows(_of_rows(every, rows, None, last=last_is_complete), is_sorted=True)
    moments, zone = _moments(table[time].take(pa.array(rows)), time, every)
    order = np.argsort(moments, kind="stable")
    is_sorted = bool(np.all(order[:-1] < order[1:]))
    if every.is_time:
        found = _of_time(every, rows[order], moments[order], time, zone, last=last_is_complete)
    else:
        labels = _starts(moments[order], every, zone)
        found = _of_rows(every, rows[order], labels, last=last_is_complete)
    return Windows(found, is_sorted, zone)


def order_in_time(table: pa.Table, time: str | None, every: Every) -> Int[np.ndarray, " n"] | None:
    """The rows of a table by time; None if it has no such column of times without gaps."""
    if time is None or time not in table.column_names:
        return None
    try:
        moments, _ = _moments(table[time], time, every)
    except TableError:
        return None
    return np.argsort(moments, kind="stable")


def _moments(column: pa.ChunkedArray, name: str, every: Every) -> tuple[np.ndarray, str]:
    """Values to sort by: microseconds as datetime64, local where there is a zone, or numbers."""
    kind = kind_of(name, column.type)
    if kind is Kind.TEXT:
        column = _parsed(texts(column), name)
        kind = kind_of(name, column.type)
    if not every.is_time and kind is Kind.NUMBER:
        _refuse_gaps(column, name)
        return numbers(column), ""
    if kind not in (Kind.DATE, Kind.INSTANT):
        raise TableError(
            f"Column {shown(name)} holds {kind.value} values; expected dates or times such as "
            "2024-03-01 or 2024-03-01T10:00:00. Write it so, or give `every` as a number of rows."
        )
    _refuse_gaps(column, name)
    column, zone = plain(column), ""
    if kind is Kind.INSTANT:
        zone = str(column.type.tz)
        is_local = every.unit in ("d", "w", "mo", "rows")
        column = _local(column, name) if is_local else column.cast(pa.timestamp("us", "UTC"))
        zone = zone if is_local else "UTC"
    return column.cast(pa.timestamp("us"), safe=False).to_numpy().astype("datetime64[us]"), zone


def _local(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return pc.local_timestamp(column)
    except pa.ArrowInvalid as error:
        raise TableError(
            f"The time zone of column {shown(name)}, {shown(str(column.type.tz))}, is not known "
            f"here: {shown(str(error))}. Write the times in UTC."
        ) from None


def _parsed(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Times from texts of ISO 8601."""
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid as error:
            found = error
    raise TableError(
        f"Column {shown(name)} holds texts that are no times; expected 2024-03-01 or "
        f"2024-03-01T10:00:00, all with a time zone or all without; {shown(str(found))}."
    )


def _refuse_gaps(column: pa.ChunkedArray, name: str) -> None:
    lacks = int(is_missing(column).sum())
    if lacks:
        raise TableError(
            f"Column {shown(name)} lacks the time of {lacks} of {len(column)} rows, which belong "
            "to no window. Fill the times in, or leave those rows out."
        )


def _of_rows(
    every: Every, order: Int[np.ndarray, " n"], labels: list[str] | None, *, last: bool
) -> tuple[WindowRows, ...]:
    found = []
    for start in range(0, order.size, every.count):
        some = order[start : start + every.count]
        end = start + some.size - 1
        label = f"rows {start}–{end}" if labels is None else labels[start]
        found.append(WindowRows(label, some, is_complete=some.size == every.count or last))
    return tuple(found)


def _of_time(
    every: Every,
    order: Int[np.ndarray, " n"],
    moments: np.ndarray,
    name: str,
    zone: str,
    *,
    last: bool,
) -> tuple[WindowRows, ...]:
    number = _numbers(moments, every)
    n_windows = int(number[-1] - number[0]) + 1
    if n_windows > _MOST_WINDOWS:
        raise TableError(
            f"Windows of {every} from {moments[0]} to {moments[-1]} are {n_windows:,}; "
            f"{_MOST_WINDOWS:,} are the most. Is a time in {shown(name)} wrong? Otherwise use "
            "longer windows."
        )
    each = np.arange(number[0], number[-1] + 1)
    labels = [_label(start, every, zone) for start in _start_of(each, every)]
    ends = np.searchsorted(number, each, side="right")
    starts = np.searchsorted(number, each, side="left")
    return tuple(
        WindowRows(label, order[a:b], is_complete=last or i < n_windows - 1)
        for i, (label, a, b) in enumerate(zip(labels, starts, ends, strict=True))
    )


def _numbers(moments: np.ndarray, every: Every) -> Int[np.ndarray, " n"]:
    """The window of each moment, counted from 1970."""
    if every.unit == "mo":
        return moments.astype("datetime64[M]").astype(np.int64) // every.count
    offset = _MONDAY if every.unit == "w" else 0
    return (moments.astype(np.int64) + offset) // (every.count * _MICROSECONDS[every.unit])


def _start_of(numbers_: Int[np.ndarray, " n"], every: Every) -> np.ndarray:
    if every.unit == "mo":
        return (numbers_ * every.count).astype("datetime64[M]")
    offset = _MONDAY if every.unit == "w" else 0
    started = numbers_ * every.count * _MICROSECONDS[every.unit] - offset
    return started.astype("datetime64[us]")


def _starts(moments: np.ndarray, every: Every, zone: str) -> list[str]:
    """Labels of windows of rows, by the time of their first row."""
    if moments.dtype.kind != "M":
        return [f"{value:g}" for value in moments.tolist()]
    return [_label(moment, every, zone) for moment in moments]


def _label(start: np.datetime64, every: Every, zone: str) -> str:
    if every.unit == "mo":
        return str(start)
    if every.unit in ("d", "w"):
        return str(start.astype("datetime64[D]"))
    minutes = str(start.astype("datetime64[m]")).replace("T", " ")
    return f"{minutes} {zone}".strip() if every.is_time else minutes
