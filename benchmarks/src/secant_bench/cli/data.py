"""`secant data`: prepare tables of real data from their original files."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from secant.cli.command import command
from secant.cli.session import Session

__all__ = ["app"]

app = typer.Typer(help="List, prepare and check the benchmark tables.", no_args_is_help=True)


class FileFormat(enum.Enum):
    """The format of the prepared files."""

    PARQUET = "parquet"
    ARROW = "arrow"
    CSV = "csv"
    NPY = "npy"


class Name(enum.Enum):
    """The name of a table; a test compares the names with `TABLES`, which is slow to import."""

    POWER = "power"
    GAS = "gas"
    HEPMASS = "hepmass"
    MINIBOONE = "miniboone"
    BSDS300 = "bsds300"


@app.command("list")
@command("data list")
def list_tables(session: Session) -> None:
    """Show the tables, their sizes and where the original files come from."""
    from secant_bench.real_tables import TABLES

    header = ("table", "columns", "train", "validation", "test", "about")
    session.show_table(
        header,
        [
            (t.name, str(t.n_columns), *(f"{n:,}" for n in t.n_rows), t.about)
            for t in TABLES.values()
        ],
    )
    for table in TABLES.values():
        session.show(f"\n{table.name}: put {table.files} into a folder.\n  From: {table.home}.")
    session.show("\nThen `secant data prepare NAME FOLDER -o OUT`.")
    session.finish(
        {
            "tables": [
                {
                    "name": t.name,
                    "about": t.about,
                    "columns": t.n_columns,
                    "rows": dict(zip(("train", "validation", "test"), t.n_rows, strict=True)),
                    "files": t.files,
                    "home": t.home,
                }
                for t in TABLES.values()
            ]
        }
    )


@app.command("prepare")
@command("data prepare")
def prepare(
    session: Session,
    name: Annotated[Name, typer.Argument(help="Name of the table.")],
    folder: Annotated[Path, typer.Argument(help="Folder with the original files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write into.")],
    form: Annotated[
        FileFormat, typer.Option("--format", help="Format of the files.")
    ] = FileFormat.PARQUET,
) -> None:
    """Write training, validation and test files as in the literature, with a manifest."""
    from secant_bench.real_tables import TABLES
    from secant_bench.real_tables.prepared import write_prepared

    session.say(f"reading the original files of {name.value} in {folder}")
    try:
        table = TABLES[name.value].prepare(folder)
    except ValueError as error:  # also errors of the libraries that read the files
        raise ValueError(f"The files in {folder} cannot be prepared: {error}") from error
    prepared = write_prepared(output, table, f".{form.value}")
    session.show(f"{prepared.name}: {len(prepared.columns)} columns. {prepared.note}")
    session.show_table(
        ("file", "rows"), [(s.file, f"{s.rows:,}") for s in prepared.splits.values()]
    )
    session.finish(
        {
            "name": prepared.name,
            "note": prepared.note,
            "folder": str(output),
            "columns": prepared.columns,
            "splits": {k: vars(s) for k, s in prepared.splits.items()},
        }
    )


@app.command("check")
@command("data check")
def check(
    session: Session, folder: Annotated[Path, typer.Argument(help="Folder of a prepared table.")]
) -> None:
    """Check a prepared table: files, checksums, rows, columns, finite values."""
    from secant_bench.real_tables.prepared import check_prepared

    prepared, problems = check_prepared(folder)
    rows = ", ".join(f"{s.rows:,} {k}" for k, s in prepared.splits.items())
    session.show(f"{prepared.name}: {len(prepared.columns)} columns; rows: {rows}")
    session.show("\n".join(problems) or "all files are intact")
    session.finish({"name": prepared.name, "is_whole": not problems, "problems": problems})
    if problems:
        raise ValueError(f"{folder} is damaged: {len(problems)} problems; prepare it again.")
