"""Encoding of tables as numbers, common to several tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float, Int

from secant.tables import Missing
from secant.tables.codes import ColumnCode, OneHot, Quantity, code_from_json
from secant.tables.columns import default_labels, matched_kinds
from secant.tables.errors import TableError, counted, nearest, quoted, shown
from secant.tables.frames import arrow_table, frame_of, needs_encoding
from secant.tables.kinds import Kind, is_missing, kind_of, numbers, plain

__all__ = ["Encoded", "EncodedTable", "Encoding", "Missing", "encoded_pair", "frames_as_numbers"]


@dataclass(frozen=True, eq=False)  # arrays do not compare or hash
class Encoded:
    """Rows of a table as numbers.

    Attributes:
        rows: (n, d) float64.
        kept: (n,) numbers of the rows in the table.
    """

    rows: Float[np.ndarray, "n d"]
    kept: Int[np.ndarray, " n"]


@dataclass(frozen=True)
class Encoding:
    """Encoding of the columns of a table as numbers.

    Numbers are unchanged; dates and times become days (since 1970, or since midnight). Text and
    booleans become one column per category, e_k + u with u ~ U(0, 1)^K: the noise gives the rows a
    density, and since it fills the unit cells without overlap, the ratio of two such densities is
    exactly that of the probabilities of the categories.

    Attributes:
        codes: One for each column.
        missing: What to do about missing values.
    """

    codes: tuple[ColumnCode, ...]
    missing: Missing = Missing.REFUSE

    @classmethod
    def fitted(
        cls,
        tables: Sequence[object],
        missing: Missing = Missing.REFUSE,
        *,
        labels: Sequence[str] | None = None,
    ) -> Encoding:
        """Fit one encoding for all tables, with their joint categories and medians.

        Args:
            tables: Arrow tables or data frames with the same columns, in any order.
            missing: What to do about missing values.
            labels: What to call the tables in messages.

        Raises:
            TableError: If columns differ or cannot be made into numbers, values are missing or
                infinite, or a column of text has a great many values.
        """
        if not tables:
            raise ValueError("`tables` must hold at least one table; got none.")
        called = default_labels(len(tables)) if labels is None else labels
        given = [arrow_table(table) for table in tables]
        kinds = matched_kinds(given, called)
        for table, label in zip(given, called, strict=True):
            _check_values(table, list(kinds), missing, label)
        columns = {name: [table[name] for table in given] for name in kinds}
        return cls(tuple(_code(n, kind, columns[n], missing) for n, kind in kinds.items()), missing)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Columns that a table must have."""
        return tuple(code.name for code in self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """Encoded columns: "age", "colour=red", "date (days)"."""
        return tuple(name for code in self.codes for name in code.names)

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The encoded columns of each column of a table."""
        return {code.name: tuple(code.names) for code in self.codes}

    @property
    def text(self) -> tuple[str, ...]:
        """Columns to be read as text in other files."""
        return tuple(code.name for code in self.codes if code.kind is Kind.TEXT)

    def encode(self, table: object, *, seed: int = 0, first_row: int = 0) -> Encoded:
        """Rows as numbers.

        Args:
            table: An Arrow table or data frame with the columns of `inputs`; others are ignored.
            seed: Of the noise. Use different seeds for two tables, for independent noise.
            first_row: Number of the table's first row, where it is a piece of a larger one: the
                noise of a row does not depend on the pieces.

        Raises:
            TableError: If a column is missing or of another kind, a value is missing or infinite,
                or a category was absent from the fit.
        """
        given = arrow_table(table)
        self._check_columns(given)
        lacks = _missing(given, self.inputs)
        if self.missing is Missing.REFUSE:
            _refuse_missing(lacks, "the table")
        any_lack = np.zeros(given.num_rows, dtype=bool)
        if self.missing is Missing.DROP:
            any_lack = np.any([*lacks.values(), any_lack], axis=0)
        kept = np.flatnonzero(~any_lack)
        _refuse_infinite(given, self.inputs, "the table")
        noise = self._noise(given.num_rows, seed, first_row)[kept]
        return Encoded(self._numbers(given, kept) + noise, kept)

    def to_json(self) -> dict[str, Any]:
        """JSON values from which `from_json` restores the encoding."""
        return {
            "missing": self.missing.value,
            "columns": [code.to_json() for code in self.codes],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Encoding:
        """The encoding that `to_json` wrote.

        Raises:
            TableError: If it was not `to_json` that wrote it.
        """
        try:
            missing = Missing(fields["missing"])
            codes = tuple(code_from_json(column) for column in fields["columns"])
        except (KeyError, TypeError, ValueError) as error:
            raise TableError(f"Not an encoding of tables: {error}.") from None
        if not codes or len({code.name for code in codes}) < len(codes):
            raise TableError("Not an encoding of tables: it needs different columns.")
        unfilled = [c.name for c in codes if isinstance(c, Quantity) and c.fill is None]
        if missing is Missing.IMPUTE and unfilled:
            raise TableError(f"Not an encoding of tables: nothing to fill in {quoted(unfilled)}.")
        return cls(codes, missing)

    def _numbers(self, table: pa.Table, kept: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n d"]:
        columns = (code.encode(plain(table[code.name]).take(kept)) for code in self.codes)
        return np.concatenate(list(columns), axis=1)

    def _noise(self, n: int, seed: int, first_row: int) -> Float[np.ndarray, "n d"]:
        """Uniform in the columns of categories, 0 in the others."""
        noisy = np.concatenate([[isinstance(c, OneHot)] * len(c.names) for c in self.codes])
        draws = math.ceil(noisy.sum() / 4)  # a row: the generator counts in blocks of four numbers
        generator = np.random.Generator(np.random.Philox(seed).advance(first_row * draws))
        noise = np.zeros((n, noisy.size))
        noise[:, noisy] = generator.random((n, 4 * draws))[:, : noisy.sum()]
        return noise

    def _check_columns(self, table: pa.Table) -> None:
        for code in self.codes:
            if code.name not in table.column_names:
                hint = nearest(code.name, table.column_names) or "."
                raise TableError(
                    f"The table has no column {shown(code.name)}, which the fit had{hint} "
                    f"It has {quoted(table.column_names)}."
                )
            found = kind_of(code.name, table.schema.field(code.name).type)
            if found not in (code.kind, Kind.EMPTY):
                raise TableError(
                    f"Column {shown(code.name)} holds {found.value} values; in the fit it held "
                    f"{code.kind.value} values. Write it as in the fit."
                )


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table and its rows as numbers.

    Attributes:
        table: as given.
        encoding: of its columns.
        encoded: the encoded rows.
    """

    table: pa.Table
    encoding: Encoding
    encoded: Encoded

    @property
    def rows(self) -> Float[np.ndarray, "n d"]:
        """(n, d) float64."""
        return self.encoded.rows

    def numbers_of(self, rows: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """The numbers that encoded rows have in the table."""
        return self.encoded.kept[rows]

    def cells_of(self, rows: Int[np.ndarray, " k"]) -> tuple[tuple[str, ...], ...]:
        """Cells of encoded rows, as text."""
        columns = self.table.select(list(self.encoding.inputs))
        found = columns.take(self.numbers_of(rows)).to_pylist()
        return tuple(tuple(_cell(value) for value in row.values()) for row in found)


def encoded_pair(
    tables: Sequence[object],
    missing: Missing = Missing.REFUSE,
    *,
    labels: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[EncodedTable, EncodedTable]:
    """Two tables in a common encoding; their columns are matched by name.

    Args:
        tables: Arrow tables or data frames.
        missing: What to do about missing values.
        labels: What to call the tables in messages.
        seed: Of the noise on categories, which is independent in the two.
    """
    made = Encoding.fitted(tables, missing, labels=labels)
    given = [arrow_table(table) for table in tables]
    first, second = (
        EncodedTable(table, made, made.encode(table, seed=2 * seed + number))
        for number, table in enumerate(given)
    )
    return first, second


def frames_as_numbers(
    x_0: object, x_1: object, missing: Missing | str, *, labels: Sequence[str], seed: int
) -> tuple[EncodedTable, EncodedTable] | None:
    """Two data frames as the command line encodes them; None for numbers without gaps, and arrays.

    Args:
        x_0: A data frame or an array.
        x_1: The other.
        missing: What to do about missing values, or the value of that.
        labels: What to call the two in messages.
        seed: Of the noise on categories.
    """
    choices = [choice.value for choice in Missing]
    if not isinstance(missing, Missing) and missing not in choices:
        raise ValueError(f"`missing` must be one of {choices}; got {missing!r}.")
    frames = [None if isinstance(x, np.ndarray) else frame_of(x) for x in (x_0, x_1)]
    first, second = frames
    if first is None or second is None or not (needs_encoding(first) or needs_encoding(second)):
        return None
    return encoded_pair([x_0, x_1], Missing(missing), labels=labels, seed=seed)


def _cell(value: object) -> str:
    """A cell as a reader would write it: six digits, and a dash for what is missing."""
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _code(
    name: str, kind: Kind, columns: Sequence[pa.ChunkedArray], missing: Missing
) -> ColumnCode:
    imputes = missing is Missing.IMPUTE
    if kind.is_categorical:
        return OneHot.of(name, kind, columns, with_missing=imputes)
    return Quantity.of(name, kind, columns) if imputes else Quantity(name, kind)


def _check_values(table: pa.Table, names: Sequence[str], missing: Missing, label: str) -> None:
    if not table.num_rows or not names:
        raise TableError(f"There must be rows and columns in {label}; it has {table.shape}.")
    lacks = _missing(table, names)
    empty = [name for name, where in lacks.items() if where.all()]
    if empty:
        raise TableError(
            f"Columns without any value in {label}: {quoted(empty)}. Leave them out "
            f"({shown('!' + empty[0])} among the columns)."
        )
    if missing is Missing.REFUSE:
        _refuse_missing(lacks, label)
    if missing is Missing.DROP and np.any(list(lacks.values()), axis=0).all():
        raise TableError(
            f"No row of {label} is complete: {_counts(lacks)}. Leave out the columns that lack "
            "most, or fill in with Missing.IMPUTE (`--missing impute`)."
        )
    _refuse_infinite(table, names, label)


def _missing(table: pa.Table, names: Sequence[str]) -> dict[str, Bool[np.ndarray, " n"]]:
    return {name: is_missing(table[name]) for name in names}


def _refuse_missing(lacks: Mapping[str, Bool[np.ndarray, " n"]], label: str) -> None:
    if any(where.any() for where in lacks.values()):
        raise TableError(
            f"Values are missing in {label}: {_counts(lacks)}. Leave those rows out with "
            "`--missing drop` (in Python, missing='drop'), or fill them in with "
            "`--missing impute` (missing='impute')."
        )


def _refuse_infinite(table: pa.Table, names: Sequence[str], label: str) -> None:
    infinite = {
        name: np.isinf(numbers(table[name]))
        for name in names
        if pa.types.is_floating(table.schema.field(name).type)
    }
    if any(where.any() for where in infinite.values()):
        raise TableError(
            f"Values are infinite in {label}: {_counts(infinite)}. Replace them by numbers, or "
            "leave those rows out."
        )


def _counts(where: Mapping[str, Bool[np.ndarray, " n"]]) -> str:
    """Columns with their counts, most first: "'age' 12 of 300, 'city' 3"."""
    counts = {name: int(flags.sum()) for name, flags in where.items() if flags.any()}
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    more = f" and {len(ranked) - 8} columns more" if len(ranked) > 8 else ""
    rows = next(iter(where.values())).size
    return (
        ", ".join(f"{shown(name)} {count}" for name, count in ranked[:8])
        + f"{more} of {counted(rows, 'row')}"
    )
