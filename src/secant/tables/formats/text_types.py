"""Types of columns that a file stores as text.

A column has the first type of a fixed list that every one of its values can be read as. All rows
count, not the first few: reading by batches and reading at once find the same types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

MISSING_WORDS = (
    *("", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "NULL", "null", "None", "NaN", "nan"),
    *("-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

_AT_ONCE = 2048  # values tried
_ORDER = (
    pa.null(),
    pa.int64(),
    pa.bool_(),
    pa.date32(),
    pa.time64("us"),
    *(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")),
    pa.float64(),
    pa.string(),
)


def found_types(
    batches: Iterable[pa.Table],
    columns: Sequence[str],
    text: Sequence[str],
    *,
    decimal_comma: bool = False,
) -> dict[str, pa.DataType]:
    """The type of each column, from tables of text; those in `text` stay text.

    `decimal_comma` says that numbers may be written as 0,5.
    """
    possible = {name: [pa.string()] if name in text else list(_ORDER) for name in columns}
    for table in batches:
        for name, types in possible.items():
            if len(types) > 1:
                possible[name] = _readable(table[name], types, decimal_comma=decimal_comma)
    return {name: types[0] for name, types in possible.items()}


def with_types(
    table: pa.Table, types: Mapping[str, pa.DataType], *, decimal_comma: bool = False
) -> pa.Table:
    """A table of text, each column read as its type."""

    def read(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
        values = _values(column)
        return _read_as(_with_points(values) if decimal_comma else values, kind)

    return pa.table(
        {n: table[n] if kind == pa.string() else read(table[n], kind) for n, kind in types.items()}
    )


def _readable(
    column: pa.ChunkedArray, types: list[pa.DataType], *, decimal_comma: bool
) -> list[pa.DataType]:
    values = _values(column)
    values = _with_points(values) if decimal_comma else values
    return [kind for kind in types if _is_readable(values, kind)]


def _is_readable(values: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Whether all values can be read as a type; in small parts, to stop at the first failure."""
    try:
        for start in range(0, len(values), _AT_ONCE):
            _read_as(values.slice(start, _AT_ONCE), kind)
    except pa.ArrowInvalid:
        return False
    return True


def _values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values without surrounding space, and null for words that mean a missing value."""
    trimmed = pc.ascii_trim_whitespace(column)
    missing = pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS))
    return pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)


def _with_points(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers with a decimal comma as numbers with a point."""
    return pc.replace_substring_regex(
        values, r"^([-+]?[0-9]*),([0-9]+([eE][-+]?[0-9]+)?)$", r"\1.\2"
    )


def _read_as(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_null(kind):
        return _nothing(values)
    if pa.types.is_time(kind):  # no cast from text: the time of some day is one
        moments = pc.binary_join_element_wise("1970-01-01", values, " ")
        return pc.cast(pc.cast(moments, pa.timestamp("us")), kind)
    return pc.cast(values, kind)


def _nothing(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if values.null_count < len(values):
        raise pa.ArrowInvalid("There are values.")
    return pa.chunked_array([pa.nulls(len(values))])
