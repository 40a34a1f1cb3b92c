"""Arrow files (also named Feather), in the file or the streaming form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from secant.tables.formats.base import Sink, TableFormat, check_columns, rebatched
from secant.tables.formats.signatures import Content

__all__ = ["Arrow"]


class Arrow(TableFormat):
    """Columns with types, as they lie in memory."""

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
        return rebatched(_batches(path, list(columns)), rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema, compressed as Feather is."""
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        return _ArrowSink(pa.ipc.new_file(str(path), schema, options=options))


def _reader(source: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    named = source.read(6) == b"ARROW1"
    source.seek(0)
    return pa.ipc.open_file(source) if named else pa.ipc.open_stream(source)


def _batches(path: Path, columns: list[str]) -> Iterator[pa.Table]:
    with pa.memory_map(str(path)) as source:
        reader = _reader(source)
        yield reader.schema.empty_table().select(columns)
        if isinstance(reader, pa.RecordBatchFileReader):
            found = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            found = iter(reader)
        for batch in found:
            table = pa.Table.from_batches([batch]).select(columns)
            table.validate(full=True)  # the reader trusts offsets, and these may point anywhere
            yield table


class _ArrowSink(Sink):
    def __init__(self, writer: pa.RecordBatchFileWriter) -> None:
        self._writer = writer

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table, max_chunksize=1 << 16)

    def close(self) -> None:
        self._writer.close()
