"""Formats of table files, selected by file extension and checked by their first bytes."""

from __future__ import annotations

from pathlib import Path

from secant._host.atomic_files import is_special
from secant.tables.errors import TableError, nearest, shown
from secant.tables.formats.arrays import NumpyArchive, NumpyArray
from secant.tables.formats.arrow import Arrow
from secant.tables.formats.base import Sink, TableFormat
from secant.tables.formats.delimited import Delimited
from secant.tables.formats.parquet import Parquet
from secant.tables.formats.signatures import check_content

__all__ = ["FORMATS", "Sink", "TableFormat", "format_of", "format_of_file"]

FORMATS: dict[str, TableFormat] = {
    ".csv": Delimited("CSV", ","),
    ".tsv": Delimited("TSV", "\t"),
    ".parquet": Parquet(),
    ".arrow": Arrow(),
    ".feather": Arrow(),
    ".npy": NumpyArray(),
    ".npz": NumpyArchive(),
}


def format_of(path: Path) -> TableFormat:
    """The format that the name of a file stands for.

    Raises:
        TableError: If it stands for none.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        hint = " Unpack it first." if suffix in {".gz", ".bz2", ".xz", ".zst", ".zip"} else ""
        raise TableError(
            f"{shown(path)} ends in {shown(suffix)}; a table ends in one of "
            f"{', '.join(FORMATS)}.{hint}"
        )
    return FORMATS[suffix]


def format_of_file(path: Path) -> TableFormat:
    """The format of a file that is there to be read.

    Raises:
        TableError: If there is no such file, or it holds something else.
    """
    found = format_of(path)
    if path.is_dir():
        raise TableError(f"{shown(path)} is a folder; name a file in it.")
    if not path.exists():
        beside = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
        raise TableError(f"{shown(path)} does not exist{nearest(path.name, beside) or '.'}")
    if is_special(path):
        raise TableError(
            f"{shown(path)} is a device or a pipe. A table is read more than once: write it to a "
            "file first."
        )
    check_content(path, found.content)
    return found
