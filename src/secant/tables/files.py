"""Read and write tables, in the format of the file extension.

.csv, .tsv, .parquet, .arrow, .feather, .npy, .npz and .root. Problems raise a `TableError`
with a remedy; files are written atomically.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from secant._host.atomic_files import replacing
from secant.tables.columns import chosen, selected
from secant.tables.errors import TableError, quoted, shown
from secant.tables.formats import Sink, format_of, format_of_file

__all__ = [
    "TableError",
    "TableWriter",
    "column_names",
    "read_batches",
    "read_table",
    "selected",
    "write_table",
]


def column_names(path: str | Path) -> tuple[str, ...]:
    """Columns of a table, without reading its rows (an .npz is read as a whole).

    Raises:
        TableError: If the file cannot be read.
    """
    path = Path(path)
    with _reading(path):
        return tuple(format_of_file(path).names(path))


def read_table(
    path: str | Path, columns: Sequence[str] | None = None, *, text: Sequence[str] = ()
) -> pa.Table:
    """A table as a whole.

    Args:
        path: A file of one of the formats.
        columns: Names or globs, as `selected` takes them; None for all columns.
        text: Columns of a .csv or .tsv that are text even if they look like numbers or dates.

    Raises:
        TableError: If the file cannot be read, or has no rows.
    """
    path = Path(path)
    with _reading(path):
        found = format_of_file(path)
        table = found.read(path, chosen(found.names(path), columns), text=text)
        _check_rows(table.num_rows)
    return table


def read_batches(
    path: str | Path,
    columns: Sequence[str] | None = None,
    *,
    batch_rows: int = 65_536,
    text: Sequence[str] = (),
) -> Iterator[pa.Table]:
    """A table in pieces of `batch_rows` rows, for files larger than memory.

    Columns have the types of `read_table`: a .csv or .tsv is read twice, first for the types. The
    memory needed does not grow with the rows, except that an .npz is held whole.

    Raises:
        TableError: If the file cannot be read, or has no rows.
    """
    if batch_rows < 1:
        raise ValueError(f"`batch_rows` must be at least 1; got {batch_rows}.")
    path = Path(path)
    with _reading(path):
        found = format_of_file(path)
        names = chosen(found.names(path), columns)
    return _batches(path, names, batch_rows, text)


def _batches(
    path: Path, names: Sequence[str], rows: int, text: Sequence[str]
) -> Iterator[pa.Table]:
    n = 0
    with _reading(path):
        for table in format_of(path).batches(path, names, rows=rows, text=text):
            n += table.num_rows
            if table.num_rows:
                yield table
        _check_rows(n)


def write_table(path: str | Path, table: pa.Table) -> None:
    """Write a table in the format of the file extension, atomically.

    Raises:
        TableError: If the format cannot hold it, or the file cannot be written.
    """
    with TableWriter(path) as writer:
        writer.append(table)


class TableWriter:
    """Write a table in pieces; the file appears when the `with` block succeeds.

    Dictionary columns are written as plain values. A .npz is held in memory until the end.

    Args:
        path: A file of one of the formats.

    Raises:
        TableError: If the format cannot hold a piece, a piece has other columns than the first,
            there is none, or the file cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._format = format_of(self._path)
        self._stack = ExitStack()
        self._sink: Sink | None = None
        self._schema: pa.Schema | None = None

    def __enter__(self) -> TableWriter:
        if not self._path.parent.is_dir():
            raise TableError(f"{shown(self._path.parent)} is not a folder. Make it first.")
        if self._path.is_dir():
            raise TableError(f"{shown(self._path)} is a folder; name a file in it.")
        with _writing(self._path):
            self._part = self._stack.enter_context(replacing(self._path))
        return self

    def append(self, table: pa.Table) -> None:
        """Add rows."""
        with _writing(self._path):
            plain = _plain(table)
            if self._sink is None:
                self._schema = plain.schema
                self._sink = self._format.sink(self._part, plain.schema)
            elif plain.schema != self._schema:
                raise TableError(
                    f"The first rows had columns {_described(self._schema)}; these have "
                    f"{_described(plain.schema)}."
                )
            self._sink.write(plain)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            with suppress(Exception):  # report the first error, not this one
                self._close()
            self._stack.__exit__(kind, error, trace)
            return
        with _writing(self._path), self._stack:
            self._close()

    def _close(self) -> None:
        if self._sink is None:
            raise TableError("There is nothing to write: no rows were appended.")
        self._sink.close()


def _plain(table: pa.Table) -> pa.Table:
    """With distinct columns, dictionaries replaced by their values, and no metadata of pandas."""
    chosen(table.column_names, ["*"])
    fields = [
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


def _described(schema: pa.Schema) -> str:
    return quoted(f"{field.name}: {field.type}" for field in schema)


def _check_rows(n: int) -> None:
    if not n:
        raise TableError("It has column names but no rows.")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A context in which errors name the file and a remedy."""
    try:
        with _named(path, "read"):
            yield
    except (TableError, ImportError):
        raise
    except Exception as error:  # readers raise errors of any kind on malformed bytes
        raise TableError(
            f"{shown(path)} cannot be read as {format_of(path).name}; it seems damaged, or made "
            f"by something else. Write it again. ({_first(error)})"
        ) from None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        with _named(path, "written"):
            yield
    except TableError:
        raise
    except (pa.ArrowException, ValueError) as error:
        raise TableError(
            f"{format_of(path).name} cannot hold this table: {_first(error)}. Try a .parquet."
        ) from None


@contextmanager
def _named(path: Path, done: str) -> Iterator[None]:
    """A context in which user and system errors name the file."""
    try:
        yield
    except TableError as error:
        raise _about(path, error) from None
    except OSError as error:
        raise TableError(
            f"{shown(path)} cannot be {done}: {error.strerror or _first(error)}."
        ) from None


def _about(path: Path, error: TableError) -> TableError:
    """The error with the name of the file in its message."""
    name, text = shown(path), str(error)
    return error if name in text else TableError(f"{name}: {text}")


def _first(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
