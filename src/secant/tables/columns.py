"""Selection of columns by name or pattern."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from secant.tables.errors import TableError, nearest, quoted, shown

__all__ = ["check_distinct", "chosen", "selected"]

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
    """Columns to read from a file: those selected, or all except the index of pandas.

    Raises:
        TableError: If a pattern matches nothing, or a column has no unique name.
    """
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
    """Check that column names are unique.

    Raises:
        TableError: If two share a name.
    """
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
