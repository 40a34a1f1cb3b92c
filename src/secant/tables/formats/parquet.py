"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from secant.tables.formats.base import Sink, TableFormat, check_columns, rebatched
from secant.tables.formats.signatures import Content

__all__ = ["Parquet"]

_BUFFER = 1 << 16  # bytes that are read of a column; otherwise a row group's column is read whole


class Parquet(TableFormat):
    """Columns with types, in groups of rows."""

    name = "Parquet"
    content = Content.PARQUET

    def names(self, path: Path) -> list[str]:
        """Columns of a file; a nested column is one."""
        with pq.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
        check_columns(len(names))
        return names

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn."""
        return rebatched(_batches(path, list(columns), rows), rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema."""
        return _ParquetSink(pq.ParquetWriter(path, schema))


def _batches(path: Path, columns: list[str], rows: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
        fields = [file.schema_arrow.field(name) for name in columns]
        yield pa.schema(fields).empty_table()
        for batch in file.iter_batches(batch_size=rows, columns=columns):
            # Asked for a column named `a.b`, Parquet also brings the part b of a nested a.
            yield pa.Table.from_batches([batch]).select(columns)


class _ParquetSink(Sink):
    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()
