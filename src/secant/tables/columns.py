"""Columns by name: selection by patterns, and matching between tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

import pyarrow as pa

from secant.tables.errors import TableError, counted, nearest, quoted, shown
from secant.tables.kinds import Kind, kind_of

_ROW_LABELS = re.compile(r"__index_level_\d+__")  # pandas' name of an unnamed index


def selected(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The names that match the patterns, in the order of `names`.

    Args:
        names: Columns of a table.
        patterns: Names or globs (`*`, `?`, `[abc]`). A leading `!` excludes columns; if the first
            pattern does so, all others are selected. An exact name takes precedence over a glob.

    Raises:
        TableError: If a pattern matches nothing, or nothing is left.
    """
    kept = set(names) if patterns and _takes_away(patterns[0], names) else set()
    for pattern in patterns:
        if _takes_away(pattern, names):
            kept -= _matches(pattern[1:], names)
        else:
            kept |= _matches(pattern, names)
    if not kept:
        raise TableError(f"{quoted(patterns) or 'An empty list'} leaves none of {quoted(names)}.")
    return [name for name in names if name in kept]


def chosen(names: Sequence[str], patterns: Sequence[str] | None) -> list[str]:
    """Columns to read from a file: those selected, or all except the index of pandas."""
    if isinstance(patterns, str):
        raise TableError(f"`columns` must be a list of names; got the text {shown(patterns)}.")
    if patterns is not None:
        found = selected(names, patterns) if names else []
    else:
        found = [name for name in names if not _ROW_LABELS.fullmatch(name)]
    if not found:
        raise TableError("It has no columns.")
    check_distinct(found)
    if "" in found:
        raise TableError(
            f"Column {list(names).index('') + 1} has no name. It is often a row number (pandas: "
            "write with `index=False`); give it a name, or choose the named columns with '?*'."
        )
    return found


def check_distinct(names: Sequence[str]) -> None:
    """Check that column names are unique."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"Several columns are named {quoted(twice)}. Rename all but one of each.")


def _takes_away(pattern: str, names: Sequence[str]) -> bool:
    return pattern.startswith("!") and pattern not in names


def _matches(pattern: str, names: Sequence[str]) -> set[str]:
    if pattern in names:
        return {pattern}
    found = {name for name in names if fnmatchcase(name, pattern)}
    if not found:
        raise TableError(
            f"No column matches {shown(pattern)}{nearest(pattern, names) or '.'} "
            f"The columns are {quoted(names)}."
        )
    return found


_ORDINALS = ("first", "second", "third")


def default_labels(n: int) -> tuple[str, ...]:
    """Labels of n tables in messages."""
    if n == 1:
        return ("the table",)
    named = [f"the {ordinal} table" for ordinal in _ORDINALS]
    return tuple((named + [f"table {i + 1}" for i in range(3, n)])[:n])


def kinds_of(table: pa.Table) -> dict[str, Kind]:
    """The kind of each column, whose names must differ."""
    check_distinct(table.column_names)
    return {field.name: kind_of(field.name, field.type) for field in table.schema}


def matched_kinds(tables: Sequence[pa.Table], labels: Sequence[str]) -> dict[str, Kind]:
    """The columns, the same in all tables and of the same kinds, in the order of the first."""
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
        f"The kinds of values differ in {counted(len(names), 'column')}: {'; '.join(cases)}. "
        "Write them in one form, or leave them out; columns of a .csv can be read as text."
    )
