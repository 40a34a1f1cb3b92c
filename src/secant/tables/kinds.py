"""Kinds of columns: the meaning of their values, independent of the file's types."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Float

from secant.tables.errors import TableError, shown


class Kind(Enum):
    """The meaning of a column's values."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"  # or date and time without a time zone
    INSTANT = "instant"  # date and time with a time zone
    TIME = "time of day"
    DURATION = "duration"
    EMPTY = "empty"  # no values

    @property
    def is_categorical(self) -> bool:
        """Whether the values are categories rather than quantities."""
        return self in (Kind.BOOLEAN, Kind.TEXT)

    @property
    def is_temporal(self) -> bool:
        """Whether the values are measured in days."""
        return self in (Kind.DATE, Kind.INSTANT, Kind.TIME, Kind.DURATION)


_TICKS_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def kind_of(name: str, arrow_type: pa.DataType) -> Kind:
    """The kind of a column; an error for what is no number, category or time."""
    kind = _kind(arrow_type)
    if kind is None:
        raise TableError(
            f"Column {shown(name)} holds {_words(arrow_type)}, which cannot be made into numbers. "
            f"Leave it out ({shown('!' + name)} among the columns), or write its parts as columns "
            "of their own."
        )
    return kind


def _kind(arrow_type: pa.DataType) -> Kind | None:
    is_a = pa.types
    if is_a.is_dictionary(arrow_type):
        held = _kind(arrow_type.value_type)  # categories of any type
        return Kind.TEXT if held in (Kind.NUMBER, Kind.TEXT, Kind.BOOLEAN) else held
    if is_a.is_integer(arrow_type) or is_a.is_floating(arrow_type) or is_a.is_decimal(arrow_type):
        return Kind.NUMBER
    if is_a.is_string(arrow_type) or is_a.is_large_string(arrow_type):
        return Kind.TEXT
    if is_a.is_timestamp(arrow_type):
        return Kind.DATE if arrow_type.tz is None else Kind.INSTANT
    tests = {
        Kind.TEXT: is_a.is_string_view,
        Kind.BOOLEAN: is_a.is_boolean,
        Kind.DATE: is_a.is_date,
        Kind.TIME: is_a.is_time,
        Kind.DURATION: is_a.is_duration,
        Kind.EMPTY: is_a.is_null,
    }
    return next((kind for kind, test in tests.items() if test(arrow_type)), None)


def _words(arrow_type: pa.DataType) -> str:
    if pa.types.is_nested(arrow_type):
        return f"several values per row ({arrow_type})"
    return f"values of type {arrow_type}"


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with plain values: no dictionary and no views, which few functions support."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.cast(kind.value_type))
    return column.cast(pa.string()) if pa.types.is_string_view(kind) else column


def is_missing(column: pa.ChunkedArray) -> Bool[np.ndarray, " n"]:
    """Mask of missing values: null or NaN."""
    return np.asarray(pc.is_null(plain(column), nan_is_null=True))


def numbers(column: pa.ChunkedArray) -> Float[np.ndarray, " n"]:
    """Numbers unchanged, times in days; NaN for missing values.

    Dates count from the beginning of 1970 (in UTC, if they have a time zone), times of day from
    midnight.
    """
    values = plain(column)
    kind = values.type
    if pa.types.is_date32(kind):
        return _floats(values.cast(pa.int32()))
    if pa.types.is_date64(kind):
        return _days(values.cast(pa.int64()), _TICKS_A_DAY["ms"])
    if pa.types.is_temporal(kind):
        ticks = values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
        return _days(ticks, _TICKS_A_DAY[kind.unit])
    return _floats(values)


def texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Categories as text, booleans as "false" and "true"; null for missing values."""
    return plain(column).cast(pa.string())


def _days(ticks: pa.ChunkedArray, ticks_a_day: int) -> Float[np.ndarray, " n"]:
    """Days, bit-identical for every unit: nanoseconds exceed double precision."""
    whole, rest = np.divmod(ticks.fill_null(0).to_numpy(), ticks_a_day)
    return np.where(np.asarray(ticks.is_null()), np.nan, whole + rest / ticks_a_day)


def _floats(column: pa.ChunkedArray) -> Float[np.ndarray, " n"]:
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
