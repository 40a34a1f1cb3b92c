"""Formats of table files, selected by file extension and checked by their first bytes."""

from __future__ import annotations

import difflib
from pathlib import Path

from secant._host.atomic_files import is_special
from secant.tables.errors import TableError, shown
from secant.tables.formats.arrays import NumpyArchive, NumpyArray
from secant.tables.formats.base import Sink, TableFormat, check_content
from secant.tables.formats.columnar import Arrow, Parquet
from secant.tables.formats.delimited import Delimited
from secant.tables.formats.root import Root

__all__ = ["FORMATS", "Sink", "TableFormat", "format_of", "format_of_file"]

FORMATS: dict[str, TableFormat] = {
    ".csv": Delimited("CSV", ","),
    ".tsv": Delimited("TSV", "\t"),
    ".parquet": Parquet(),
    ".arrow": Arrow(),
    ".feather": Arrow(),
    ".npy": NumpyArray(),
    ".npz": NumpyArchive(),
    ".root": Root(),
}


def format_of(path: Path) -> TableFormat:
    """The format for the extension of a file."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        hint = " Unpack it first." if suffix in {".gz", ".bz2", ".xz", ".zst", ".zip"} else ""
        raise TableError(
            f"{shown(path)} ends in {shown(suffix)}; a table ends in one of "
            f"{', '.join(FORMATS)}.{hint}"
        )
    return FORMATS[suffix]


def format_of_file(path: Path) -> TableFormat:
    """The format of an existing file."""
    found = format_of(path)
    if path.is_dir():
        raise TableError(f"{shown(path)} is a folder; name a file in it.")
    if not path.exists():
        raise TableError(f"{shown(path)} does not exist{_similar(path) or '.'}")
    if is_special(path):
        raise TableError(
            f"{shown(path)} is a device or a pipe. A table is read more than once: write it to a "
            "file first."
        )
    check_content(path, found.content)
    return found


def _similar(path: Path) -> str:
    """The text "; did you mean 'x.csv'?" for a file beside it whose stem is similar, or nothing."""
    beside = {p.stem: p.name for p in path.parent.glob("*")} if path.parent.is_dir() else {}
    close = difflib.get_close_matches(path.stem, sorted(beside), n=1, cutoff=0.7)
    return f"; did you mean {shown(beside[close[0]])}?" if close else ""
