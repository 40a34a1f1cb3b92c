"""Tables given as files, data frames or arrays, as numbers with shared columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float, Int

from secant.diagnostics.drift import named_columns
from secant.estimators.checks import checked_rows
from secant.tables import Missing
from secant.tables.encoding import EncodedTable, encoded_pair
from secant.tables.errors import TableError, nearest, quoted, shown
from secant.tables.files import read_table
from secant.tables.frames import arrow_table, frame_of
from secant.tables.groups import (
    ColumnGroup,
    Groups,
    column_groups,
    encoded_groups,
    single_columns,
)
from secant.tables.kinds import Kind, is_missing, numbers, plain, texts
from secant.tables.windows import Every, Windows, cut, order_in_time

NamedColumns = list[tuple[str, np.ndarray]]


@dataclass(frozen=True, eq=False)
class GivenTables:
    """Two tables as numbers.

    Attributes:
        x_0: (n_0, d) rows of the first.
        x_1: (n_1, d) rows of the second.
        columns: names of the encoded columns, by column of the table.
        sample_names: names of the tables.
        groups: of columns that count as one.
    """

    x_0: Float[np.ndarray, "n d"] = field(repr=False)
    x_1: Float[np.ndarray, "m d"] = field(repr=False)
    columns: Mapping[str, Sequence[str]]
    sample_names: tuple[str, str]
    groups: Groups | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns, in order."""
        return tuple(name for names in self.columns.values() for name in names)

    @cached_property
    def column_groups(self) -> tuple[ColumnGroup, ...]:
        """The groups as numbers of encoded columns."""
        return column_groups(self.groups, self.columns)

    @property
    def encoded_groups(self) -> Groups:
        """The groups by names of encoded columns."""
        return encoded_groups(self.groups, self.columns)

    @property
    def units(self) -> dict[str, Sequence[str]]:
        """What limits are about: single columns by their encoded columns, and groups as one."""
        names = self.names
        grouped = {names[i] for group in self.column_groups for i in group.columns}
        singles = {k: own for k, own in self.columns.items() if not grouped.intersection(own)}
        return {**singles, **{group.name: (group.name,) for group in self.column_groups}}

    @classmethod
    def of(
        cls,
        a: object,
        b: object,
        *,
        names: tuple[str, str] = ("a", "b"),
        groups: Groups | None = None,
        missing: Missing | str = Missing.REFUSE,
        seed: int = 0,
    ) -> GivenTables:
        """From files, data frames or arrays.

        Args:
            a: the first; a path, a data frame of any kind, or an array (n, d).
            b: the second, with the same columns.
            names: of the caller's arguments, for errors.
            groups: names or globs of columns that count as one, by name of the group.
            missing: treatment of missing values in files and data frames.
            seed: seed of the noise on categories.
        """
        labels = called(a, names[0]), called(b, names[1])
        if not (is_table(a) and is_table(b)):
            rows_0 = checked_rows(a, names[0])  # type: ignore[arg-type]  # refuses what is no array
            rows_1 = checked_rows(b, names[1], n_features=rows_0.shape[1])  # type: ignore[arg-type]
            columns = {name: (name,) for name in named_columns(rows_0.shape[1])}
            return cls(rows_0, rows_1, columns, labels, groups)
        tables = [read_table(x) if isinstance(x, Path | str) else x for x in (a, b)]
        first, second = encoded_pair(tables, Missing(missing), labels=labels, seed=seed)
        return cls(first.rows, second.rows, first.encoding.columns, labels, groups)


def is_table(x: object) -> bool:
    """Whether this is a file or a data frame, whose columns have names and kinds."""
    return isinstance(x, Path | str) or frame_of(x) is not None


def called(x: object, otherwise: str) -> str:
    """The name of a file, or another name for what is no file."""
    return Path(x).name if isinstance(x, Path | str) else otherwise


@dataclass(frozen=True, eq=False)
class WatchedTables:
    """A reference and a stream as numbers with shared columns, the stream cut into windows.

    Attributes:
        x_0: (n, d) rows of the reference, in the order of time if it has the column of times.
        in_time: whether they are in that order.
        x: (m, d) rows of the stream that are used, in their order in the table.
        kept: (m,) their numbers in the stream.
        names: of the d encoded columns.
        groups: of these that count as one.
        windows: of the stream, with the numbers of all its rows.
        stream: the stream as a table; None for an array.
        reference: the reference as a table; None for an array.
        notes: on the tables, each with a remedy.
    """

    x_0: Float[np.ndarray, "n d"] = field(repr=False)
    in_time: bool
    x: Float[np.ndarray, "m d"] = field(repr=False)
    kept: Int[np.ndarray, " m"] = field(repr=False)
    names: tuple[str, ...]
    groups: tuple[ColumnGroup, ...]
    windows: Windows
    stream: EncodedTable | None
    reference: EncodedTable | None
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        reference: object,
        stream: object,
        time: str | None,
        every: Every,
        *,
        groups: Groups | None = None,
        missing: Missing | str,
        last_is_complete: bool,
        seed: int,
    ) -> WatchedTables:
        """From files, data frames or arrays."""
        if is_table(reference) and is_table(stream):
            tables = [
                read_table(x) if isinstance(x, Path | str) else arrow_table(x)
                for x in (reference, stream)
            ]
            given = (*tables, time, every, Missing(missing))
            return cls._of_tables(*given, groups=groups, last=last_is_complete, seed=seed)
        if time is not None:
            raise ValueError(
                f"`time` must be None for arrays, whose rows come in the order of time; got "
                f"{shown(time)}. Give both tables as files or data frames."
            )
        x_0 = checked_rows(reference, "reference")  # type: ignore[arg-type]  # refuses others
        x = checked_rows(stream, "stream", n_features=x_0.shape[1])  # type: ignore[arg-type]
        kept, names = np.arange(len(x)), named_columns(x.shape[1])
        return cls(
            x_0,
            in_time=True,
            x=x,
            kept=kept,
            names=tuple(names),
            groups=column_groups(groups, {name: (name,) for name in names}),
            windows=cut(None, None, every, rows=kept, last_is_complete=last_is_complete),
            stream=None,
            reference=None,
            notes=(),
        )

    @classmethod
    def _of_tables(
        cls,
        reference: pa.Table,
        stream: pa.Table,
        time: str | None,
        every: Every,
        missing: Missing,
        *,
        groups: Groups | None,
        last: bool,
        seed: int,
    ) -> WatchedTables:
        _check_time(time, stream)
        shared, notes = _shared_columns(reference, stream, time)
        rows = _timed(stream, time, missing)
        if rows.size < stream.num_rows:
            lost = stream.num_rows - rows.size
            notes.append(f"{lost} rows of the stream have no time and are left out.")
        windows = cut(stream, time, every, rows=rows, last_is_complete=last)
        if not windows.is_sorted:
            notes.append("The stream's rows were not in the order of time; they were sorted.")
        first, second = encoded_pair(
            [reference.select(shared), stream.select(shared)],
            missing,
            labels=["the reference", "the stream"],
            seed=seed,
        )
        moving = [c.name for c in first.encoding.codes if c.kind in (Kind.DATE, Kind.INSTANT)]
        if moving:
            notes.append(f"Dates always increase: leave {quoted(moving)} out, or take differences.")
        for found, label in ((first, "reference"), (second, "stream")):
            lost = found.table.num_rows - len(found.rows)
            if lost:
                notes.append(f"{lost} rows of the {label} lack a value and are left out.")
        order = order_in_time(reference, time, every)
        x_0 = first.rows
        if order is not None:
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            x_0 = x_0[np.argsort(rank[first.encoded.kept], kind="stable")]
        return cls(
            x_0,
            order is not None,
            second.rows,
            second.encoded.kept,
            first.encoding.names,
            column_groups(groups, first.encoding.columns),
            windows,
            second,
            first,
            tuple(notes),
        )

    @property
    def quantities(self) -> Int[np.ndarray, " k"]:
        """Numbers of the encoded columns that are single and no category; categories may appear."""
        singles = single_columns(len(self.names), self.groups)
        if self.stream is None:
            return singles
        codes = self.stream.encoding.codes
        is_one = np.concatenate([[not c.kind.is_categorical] * len(c.names) for c in codes])
        return singles[is_one[singles]]

    @property
    def named_groups(self) -> Groups:
        """The groups by names of encoded columns."""
        return {group.name: [self.names[i] for i in group.columns] for group in self.groups}

    @cached_property
    def _place(self) -> Int[np.ndarray, " rows"]:
        """The place in `x` of each row of the stream; −1 if it was left out."""
        n = len(self.x) if self.stream is None else self.stream.table.num_rows
        place = np.full(n, -1)
        place[self.kept] = np.arange(self.kept.size)
        return place

    @cached_property
    def _lacks(self) -> Mapping[str, Bool[np.ndarray, " rows"]]:
        if self.stream is None:
            return {}
        table = self.stream.table
        masks = {name: is_missing(table[name]) for name in table.column_names}
        return {name: mask for name, mask in masks.items() if mask.any()}

    def places_of(self, window: int) -> Int[np.ndarray, " k"]:
        """Places in `x` of the rows of a window that are used."""
        places = self._place[self.windows.windows[window].rows]
        return places[places >= 0]

    def gone(self, window: int) -> tuple[str, ...]:
        """Columns without any value in a window that has rows."""
        rows = self.windows.windows[window].rows
        if not rows.size:
            return ()
        return tuple(name for name, mask in self._lacks.items() if mask[rows].all())

    def digest_of(self, window: int) -> str:
        """Digest of the values of a window, independent of their types in the file."""
        rows = self.windows.windows[window].rows
        return _digest(self._values, rows) if rows.size else ""

    @cached_property
    def _values(self) -> NamedColumns:
        return [("", self.x)] if self.stream is None else _values_of(self.stream)

    @cached_property
    def digest(self) -> str:
        """Digest of the values of the reference."""
        values = [("", self.x_0)] if self.reference is None else _values_of(self.reference)
        return _digest(values, np.arange(len(values[0][1])))


def _values_of(table: EncodedTable) -> NamedColumns:
    """Each column as numbers or as an array of texts; missing values are not imputed."""
    return [
        (
            code.name,
            np.array(texts(table.table[code.name]).to_pylist(), dtype=object)
            if code.kind.is_categorical
            else numbers(plain(table.table[code.name])),
        )
        for code in table.encoding.codes
    ]


def _digest(values: NamedColumns, rows: Int[np.ndarray, " k"]) -> str:
    made = hashlib.sha256()
    for name, column in values:
        some = column[rows]
        is_text = some.dtype == object
        made.update(json.dumps(name).encode())
        made.update(json.dumps(some.tolist()).encode() if is_text else some.tobytes())
    return made.hexdigest()[:16]


def _check_time(time: str | None, stream: pa.Table) -> None:
    if time is not None and time not in stream.column_names:
        hint = nearest(time, stream.column_names) or "."
        raise TableError(
            f"The stream has no column {shown(time)} of times{hint} It has "
            f"{quoted(stream.column_names)}."
        )


def _shared_columns(
    reference: pa.Table, stream: pa.Table, time: str | None
) -> tuple[list[str], list[str]]:
    """Columns that both tables have, and notes on the others."""
    old = [name for name in reference.column_names if name != time]
    new = [name for name in stream.column_names if name != time]
    shared = [name for name in old if name in new]
    if not shared:
        raise TableError(
            f"Reference and stream share no column: {quoted(old)} against {quoted(new)}. Rename "
            "them."
        )
    missing, extra = ([n for n in a if n not in b] for a, b in ((old, new), (new, old)))
    notes = []
    if missing:
        notes.append(
            f"The stream lacks {quoted(missing)} of the reference: these columns are not "
            "monitored. Restore them, or leave them out of the reference."
        )
    if extra:
        absent = "which the reference lacks: these columns are not monitored."
        notes.append(f"The stream has {quoted(extra)}, {absent}")
    return shared, notes


def _timed(stream: pa.Table, time: str | None, missing: Missing) -> Int[np.ndarray, " k"]:
    """The rows that have a time, if others may be dropped; else all rows."""
    if time is None or missing is not Missing.DROP:
        return np.arange(stream.num_rows)
    return np.flatnonzero(~is_missing(stream[time]))
