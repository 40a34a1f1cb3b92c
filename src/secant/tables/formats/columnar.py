"""Arrow files (also named Feather), in the file or the streaming form, and Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from secant.tables.formats.base import (
    Content,
    Sink,
    TableFormat,
    WriterSink,
    check_columns,
    rebatched,
)

_BUFFER = 1 << 16  # bytes read of a Parquet column at once; by default a whole row group's column


class Arrow(TableFormat):
    """Typed columns, in the layout of Arrow's memory."""

    name = "Arrow"
    content = Content.ARROW

    def names(self, path: Path) -> list[str]:
        """Columns of a file."""
        with pa.memory_map(str(path)) as source:
            names = list(_reader(source).schema.names)
        check_columns(len(names))
        return names

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn."""
        return rebatched(_arrow_batches(path, list(columns)), rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema, compressed as Feather is."""
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        return _ArrowSink(pa.ipc.new_file(str(path), schema, options=options))


class _ArrowSink(WriterSink):
    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table, max_chunksize=1 << 16)


def _reader(source: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    named = source.read(6) == b"ARROW1"
    source.seek(0)
    return pa.ipc.open_file(source) if named else pa.ipc.open_stream(source)


def _arrow_batches(path: Path, columns: list[str]) -> Iterator[pa.Table]:
    with pa.memory_map(str(path)) as source:
        reader = _reader(source)
        yield reader.schema.empty_table().select(columns)
        if isinstance(reader, pa.RecordBatchFileReader):
            found = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            found = iter(reader)
        for batch in found:
            table = pa.Table.from_batches([batch]).select(columns)
            table.validate(full=True)  # the reader does not check offsets of an untrusted file
            yield table


class Parquet(TableFormat):
    """Typed columns, in groups of rows."""

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
        return rebatched(_parquet_batches(path, list(columns), rows), rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema."""
        return WriterSink(pq.ParquetWriter(path, schema))


def _parquet_batches(path: Path, columns: list[str], rows: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
        fields = [file.schema_arrow.field(name) for name in columns]
        yield pa.schema(fields).empty_table()
        for batch in file.iter_batches(batch_size=rows, columns=columns):
            # For a column named `a.b`, Parquet also returns the part b of a nested column a.
            yield pa.Table.from_batches([batch]).select(columns)
