"""Tables of a command: column selection, missing values, encoding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.tables import Missing
from secant.tables.errors import TableError, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from secant.tables.encoding import EncodedTable

__all__ = [
    "ColumnsOption",
    "FirstTable",
    "GroupOption",
    "Missing",
    "MissingOption",
    "SecondTable",
    "encoded_alone",
    "groups_of",
    "names_of",
    "patterns",
    "read_one",
    "read_two",
]

FirstTable = Annotated[Path, typer.Argument(metavar="A", help="Table of p_0, the reference.")]
SecondTable = Annotated[
    Path, typer.Argument(metavar="B", help="Table of p_1, with the same columns.")
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        help="Columns by name or glob, '!…' to leave out; repeat it, or separate by commas.",
    ),
]
GroupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        help="Columns that count as one: NAME=COLUMNS, such as emb='e_*'; repeat it.",
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


def groups_of(values: Sequence[str] | None, names: Sequence[str]) -> dict[str, list[str]]:
    """Groups of columns from NAME=COLUMNS."""
    found: dict[str, list[str]] = {}
    for value in values or ():
        name, equals, columns = value.partition("=")
        members = patterns([columns], names)
        if not (name and equals and members):
            raise TableError(
                f"--group {shown(value)} is no group; expected NAME=COLUMNS, such as emb='e_*'."
            )
        found.setdefault(name, []).extend(members)
    return found


def read_one(
    path: Path, columns: Sequence[str] | None, missing: Missing, *, seed: int
) -> EncodedTable:
    """A file with an encoding of its own."""
    from secant.tables.files import column_names, read_table

    table = read_table(path, patterns(columns, column_names(path)))
    return encoded_alone(table, path, missing, seed=seed)


def encoded_alone(table: pa.Table, path: Path, missing: Missing, *, seed: int) -> EncodedTable:
    """A table, or some of its columns, with an encoding of its own."""
    from secant.tables.encoding import EncodedTable, Encoding

    made = Encoding.fitted([table], missing, labels=[str(path)])
    return EncodedTable(table, made, made.encode(table, seed=seed))


def read_two(
    a: Path, b: Path, columns: Sequence[str] | None, missing: Missing, *, seed: int
) -> tuple[EncodedTable, EncodedTable]:
    """Two files in a common encoding; their columns are matched by name."""
    from secant.tables.encoding import encoded_pair
    from secant.tables.files import column_names, read_table

    tables = [read_table(path, patterns(columns, column_names(path))) for path in (a, b)]
    return encoded_pair(tables, missing, labels=[str(a), str(b)], seed=seed)


def names_of(a: Path, b: Path) -> tuple[str, str]:
    """What to call two tables in a result: their file names, or paths if these are equal."""
    return (a.name, b.name) if a.name != b.name else (str(a), str(b))
