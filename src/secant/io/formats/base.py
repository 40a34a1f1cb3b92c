"""What every format of tables can do."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from secant.io.formats.signatures import Content

__all__ = ["Sink", "TableFormat", "rebatched"]


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

        `text` names columns that are text whatever they look like; only formats that do not store
        types have use for it.
        """

    @abc.abstractmethod
    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema."""

    def read(self, path: Path, columns: Sequence[str], *, text: Sequence[str] = ()) -> pa.Table:
        """The whole table."""
        return pa.concat_tables(self.batches(path, columns, rows=1 << 20, text=text))


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
