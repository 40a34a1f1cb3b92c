"""The interface of table formats, and checks of files before they are read."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa

from secant.tables.errors import TableError, shown

_MOST_COLUMNS = 1 << 16
_MOST_CELLS = 1 << 24  # of a table that is read in pieces
_FREELY = 1 << 30  # bytes of memory that any file may take
_SWELLING = 200  # maximum ratio of unpacked to packed size above that


class Sink(abc.ABC):
    """A file of one format, open for rows."""

    @abc.abstractmethod
    def write(self, table: pa.Table) -> None:
        """Append rows with the columns of the sink."""

    @abc.abstractmethod
    def close(self) -> None:
        """Finish the file."""


class WriterSink(Sink):
    """A file that a writer of Arrow fills.

    Args:
        writer: has `write_table` and `close`.
    """

    def __init__(self, writer: Any) -> None:  # noqa: ANN401, pyarrow ships no types
        self._writer = writer

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        self._writer.write_table(table)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class TableFormat(abc.ABC):
    """Reads and writes tables in files of one kind."""

    name: str
    content: Content

    @abc.abstractmethod
    def names(self, path: Path) -> list[str]:
        """Columns of a file, its rows unread."""

    @abc.abstractmethod
    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn.

        `text` names columns to be read as text; it only matters for formats without types.
        """

    @abc.abstractmethod
    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema."""

    def read(self, path: Path, columns: Sequence[str], *, text: Sequence[str] = ()) -> pa.Table:
        """The whole table."""
        tables, size = [], 0
        rows = max(1, _MOST_CELLS // len(columns))
        for table in self.batches(path, columns, rows=rows, text=text):
            tables.append(table)
            size += table.nbytes
            check_unpacked(path, size)
        return pa.concat_tables(tables)


def check_columns(n: int) -> None:
    """Refuse a table with too many columns."""
    if n > _MOST_COLUMNS:
        raise TableError(
            f"It has {n:,} columns; {_MOST_COLUMNS:,} are the most. Write the columns you need to "
            "a file of their own."
        )


def check_unpacked(path: Path, size: int) -> None:
    """Refuse a small file that unpacks to a large amount of memory."""
    if size > _FREELY and size > _SWELLING * path.stat().st_size:
        raise TableError(
            f"It unpacks to {size >> 20:,} MB or more, over {_SWELLING} times its own size, which "
            "looks like a file made to fill the memory. If it is not, write it less compressed."
        )


def rebatched(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The rows in tables of exactly `rows` rows, except the last; at least one table."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        while sum(part.num_rows for part in waiting) > rows:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, rows)
            waiting = [joined.slice(rows)]
    if waiting:
        yield pa.concat_tables(waiting)


class Content(Enum):
    """Contents of files, recognised by their first bytes, with a remedy for a wrong extension."""

    TEXT = "text", "If it is CSV or TSV, use that extension."
    PARQUET = "Parquet", "Use the extension .parquet."
    ARROW = "Arrow", "Use the extension .arrow."
    NUMPY = "a NumPy array", "Use the extension .npy."
    ZIP = "a zip archive", "NumPy's end in .npz; a spreadsheet must be saved as CSV."
    GZIP = "a gzip archive", "Unpack it first."
    ROOT = "ROOT", "Let its name end in .root."
    OLD_FEATHER = "Feather of version 1", "Write it as version 2, or as Parquet."
    UTF_16 = "text in UTF-16", "Save it as UTF-8."

    def __init__(self, words: str, remedy: str) -> None:
        self.words = words
        self.remedy = remedy


_SIGNATURES = {
    b"PAR1": Content.PARQUET,
    b"ARROW1": Content.ARROW,
    b"\xff\xff\xff\xff": Content.ARROW,  # the streaming form has no name, but always this start
    b"\x93NUMPY": Content.NUMPY,
    b"PK\x03\x04": Content.ZIP,
    b"PK\x05\x06": Content.ZIP,  # without members
    b"\x1f\x8b": Content.GZIP,
    b"root": Content.ROOT,
    b"FEA1": Content.OLD_FEATHER,
    b"\xff\xfe": Content.UTF_16,
    b"\xfe\xff": Content.UTF_16,
}


def check_content(path: Path, expected: Content) -> None:
    """Check that a file begins as its extension requires."""
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise TableError(f"{shown(path)} is empty: it holds not even column names.")
    found = next((c for start, c in _SIGNATURES.items() if head.startswith(start)), Content.TEXT)
    if found is not expected:
        raise TableError(
            f"{shown(path)} should hold {expected.words} by its name, but holds {found.words}. "
            f"{found.remedy}"
        )
