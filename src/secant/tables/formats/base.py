"""What every format of tables can do."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from secant.tables.errors import TableError
from secant.tables.formats.signatures import Content

__all__ = ["Sink", "TableFormat", "check_columns", "check_unpacked", "rebatched"]

_MOST_COLUMNS = 1 << 16
_MOST_CELLS = 1 << 24  # of a table that is read in pieces
_FREELY = 1 << 30  # bytes that any file may take in memory
_SWELLING = 200  # times its own size that a larger one may take: more is a bomb


class Sink(abc.ABC):
    """A file of one format, open for rows."""

    @abc.abstractmethod
    def write(self, table: pa.Table) -> None:
        """Append rows, in the columns that the sink was made for."""

    @abc.abstractmethod
    def close(self) -> None:
        """Finish the file."""


class TableFormat(abc.ABC):
    """How tables lie in files of one kind."""

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

        `text` names columns to be read as text; only formats that do not store
        types have use for it.
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
    """Refuse a table so wide that its names alone would take minutes.

    Raises:
        TableError: If it has too many columns.
    """
    if n > _MOST_COLUMNS:
        raise TableError(
            f"It has {n:,} columns; {_MOST_COLUMNS:,} are the most. Write the columns you need to "
            "a file of their own."
        )


def check_unpacked(path: Path, size: int) -> None:
    """Refuse a small file that unpacks to more memory than there may be.

    Raises:
        TableError: If `size`, in bytes, is a great deal more than the file has.
    """
    if size > _FREELY and size > _SWELLING * path.stat().st_size:
        raise TableError(
            f"It unpacks to {size >> 20:,} MB or more, over {_SWELLING} times its own size, which "
            "looks like a file made to fill the memory. If it is not, write it less compressed."
        )


def rebatched(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of exactly `rows`, but for the last; at least one table."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        while sum(part.num_rows for part in waiting) > rows:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, rows)
            waiting = [joined.slice(rows)]
    if waiting:
        yield pa.concat_tables(waiting)
