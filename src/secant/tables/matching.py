"""Columns of several tables, matched by name."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from secant.tables.columns import check_distinct
from secant.tables.errors import TableError, counted, nearest, quoted, shown
from secant.tables.kinds import Kind, kind_of

__all__ = ["default_labels", "kinds_of", "matched_kinds"]

_ORDINALS = ("first", "second", "third")


def default_labels(n: int) -> tuple[str, ...]:
    """Labels of n tables in messages."""
    if n == 1:
        return ("the table",)
    named = [f"the {ordinal} table" for ordinal in _ORDINALS]
    return tuple((named + [f"table {i + 1}" for i in range(3, n)])[:n])


def kinds_of(table: pa.Table) -> dict[str, Kind]:
    """The kind of each column.

    Raises:
        TableError: If two columns share a name, or one cannot be encoded.
    """
    check_distinct(table.column_names)
    return {field.name: kind_of(field.name, field.type) for field in table.schema}


def matched_kinds(tables: Sequence[pa.Table], labels: Sequence[str]) -> dict[str, Kind]:
    """The columns that all tables have, in the order of the first.

    Raises:
        TableError: If a table lacks a column of another, or has one of another kind.
    """
    kinds = [kinds_of(table) for table in tables]
    lacking = [
        line
        for found, label in zip(kinds, labels, strict=True)
        for line in _lacking(found, label, kinds, labels)
    ]
    if lacking:
        raise TableError(f"The columns differ: {' '.join(lacking)} Rename them or choose some.")
    different = [name for name in kinds[0] if len({found[name] for found in kinds}) > 1]
    if different:
        raise TableError(_differing(different, kinds, labels))
    return kinds[0]


def _lacking(
    found: dict[str, Kind], label: str, kinds: Sequence[dict[str, Kind]], labels: Sequence[str]
) -> list[str]:
    """A sentence for each other table with columns that this one lacks."""
    lines = []
    for others, other in zip(kinds, labels, strict=True):
        names = [name for name in others if name not in found]
        if names:
            own = [name for name in found if name not in others]
            hint = nearest(names[0], own) or "."
            lines.append(f"{label} lacks {quoted(names)} of {other}{hint}")
    return lines


def _differing(
    names: Sequence[str], kinds: Sequence[dict[str, Kind]], labels: Sequence[str]
) -> str:
    cases = []
    for name in names[:6]:
        each = (
            f"{found[name].value} in {where}" for found, where in zip(kinds, labels, strict=True)
        )
        cases.append(f"{shown(name)} ({', '.join(each)})")
    return (
        f"What they hold differs in {counted(len(names), 'column')}: {'; '.join(cases)}. "
        "Write them alike, or leave them out; a .csv column can be read as text on demand."
    )
