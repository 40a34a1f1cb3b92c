"""Tables of a command: column selection, missing values, encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.tables import Missing

if TYPE_CHECKING:
    import pyarrow as pa

    from secant.tables.encoding import EncodedTable, Encoding

__all__ = ["Columns", "Missing", "MissingOption", "OneTable", "TwoTables", "patterns"]


Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        help="Columns by name or glob, '!…' to leave out; repeat it, or separate by commas.",
    ),
]
MissingOption = Annotated[
    Missing,
    typer.Option("--missing", help="Rows with missing values: raise an error, drop, or impute."),
]


def patterns(values: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """Patterns one by one; a comma separates them unless a column has it in its name."""
    if not values:
        return None
    return [
        part
        for value in values
        for part in ([value] if value in names else value.split(","))
        if part
    ]


class OneTable:
    """A table with an encoding of its own."""

    @classmethod
    def read(
        cls, path: Path, columns: Sequence[str] | None, missing: Missing, *, seed: int
    ) -> EncodedTable:
        """Read a file and encode it by itself."""
        from secant.tables.files import column_names, read_table

        table = read_table(path, patterns(columns, column_names(path)))
        return cls.encoded_by_itself(table, path, missing, seed=seed)

    @staticmethod
    def encoded_by_itself(
        table: pa.Table, path: Path, missing: Missing, *, seed: int
    ) -> EncodedTable:
        """Encode a table, or some of its columns."""
        from secant.tables.encoding import EncodedTable, Encoding

        made = Encoding.fitted([table], missing, labels=[str(path)])
        return EncodedTable(table, made, made.encode(table, seed=seed))


@dataclass(frozen=True)
class TwoTables:
    """Two tables with a common encoding.

    Attributes:
        first: the table of p_0.
        second: the table of p_1.
    """

    first: EncodedTable
    second: EncodedTable

    @classmethod
    def read(
        cls, a: Path, b: Path, columns: Sequence[str] | None, missing: Missing, *, seed: int
    ) -> TwoTables:
        """Read two files; their columns are matched by name."""
        from secant.tables.encoding import encoded_pair
        from secant.tables.files import column_names, read_table

        tables = [read_table(path, patterns(columns, column_names(path))) for path in (a, b)]
        return cls(*encoded_pair(tables, missing, labels=[str(a), str(b)], seed=seed))

    @property
    def encoding(self) -> Encoding:
        """The encoding shared by both tables."""
        return self.first.encoding
