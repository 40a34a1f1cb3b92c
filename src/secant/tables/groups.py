"""Groups of columns that count as one, such as the coordinates of an embedding."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from secant.tables.columns import selected
from secant.tables.errors import TableError, quoted, shown

__all__ = ["ColumnGroup", "Groups", "column_groups", "encoded_groups", "single_columns"]

Groups = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class ColumnGroup:
    """A group of encoded columns.

    Attributes:
        name: of the group.
        columns: numbers of the encoded columns, in order.
    """

    name: str
    columns: tuple[int, ...]


def column_groups(
    groups: Groups | None, columns: Mapping[str, Sequence[str]]
) -> tuple[ColumnGroup, ...]:
    """The groups by name, as numbers of encoded columns.

    Args:
        groups: names or globs of the columns of each group; `!…` excludes columns.
        columns: the encoded columns of each column of the table, in order.

    Raises:
        TableError: If a pattern matches nothing, a column is in two groups, or a group has the
            name of a column outside of it.
    """
    members = {str(name): _members(str(name), given, columns) for name, given in _items(groups)}
    for (one, first), (two, second) in itertools.combinations(members.items(), 2):
        shared = [name for name in first if name in second]
        if shared:
            raise TableError(
                f"The groups {shown(one)} and {shown(two)} share {quoted(shared)}; a column can be "
                "in one group only. Narrow a pattern, or exclude columns with '!…'."
            )
    owners = [column for column, encoded in columns.items() for _ in encoded]
    return tuple(
        ColumnGroup(name, tuple(i for i, column in enumerate(owners) if column in own))
        for name, own in members.items()
    )


def encoded_groups(
    groups: Groups | None, columns: Mapping[str, Sequence[str]]
) -> dict[str, str | Sequence[str]]:
    """The same groups by names of encoded columns: as given if a column is encoded as itself."""
    names = [name for encoded in columns.values() for name in encoded]
    found = column_groups(groups, columns)
    if names == list(columns):
        return dict(_items(groups))
    return {group.name: [names[i] for i in group.columns] for group in found}


def single_columns(n_columns: int, groups: Sequence[ColumnGroup]) -> Int[np.ndarray, " k"]:
    """Numbers of the columns outside of all groups."""
    grouped = [column for group in groups for column in group.columns]
    return np.setdiff1d(np.arange(n_columns), np.array(grouped, dtype=np.int64))


def _items(groups: Groups | None) -> list[tuple[str, str | Sequence[str]]]:
    if groups is None:
        return []
    if not isinstance(groups, Mapping):
        raise TypeError(
            "`groups` must be a mapping from the name of a group to its columns, such as "
            f"{{'emb': 'e_*'}}; got {shown(groups)}."
        )
    return list(groups.items())


def _members(
    name: str, given: str | Sequence[str], columns: Mapping[str, Sequence[str]]
) -> list[str]:
    patterns = [given] if isinstance(given, str) else [str(pattern) for pattern in given]
    names = list(columns)
    try:
        found = selected(names, patterns)
    except TableError as error:
        raise TableError(f"Group {shown(name)}: {error}") from None
    encoded = {e for column in set(names) - set(found) for e in (column, *columns[column])}
    if name in encoded or not name:
        raise TableError(
            f"A group cannot be called {shown(name)}, the name of a column outside of it. Choose "
            "another name."
            if name
            else "A group needs a name."
        )
    return found
