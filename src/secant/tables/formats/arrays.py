"""NumPy arrays, alone (.npy) or several together (.npz). Pickled objects are never loaded.

The header of an untrusted file is checked before memory is allocated for its array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from secant.tables.errors import TableError, counted, quoted, shown
from secant.tables.formats.base import Content, Sink, TableFormat, check_columns, check_unpacked

Arrays = Mapping[str, NDArray[Any]]


class NumpyArray(TableFormat):
    """One array (n, d) of numbers, whose columns are named "0", "1" and so on.

    An array (n,) is one column; the fields of a structured array are columns with their own names.
    """

    name = ".npy"
    content = Content.NUMPY

    def names(self, path: Path) -> list[str]:
        """Columns of a file."""
        return list(_columns_of(_mapped(path)))

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn; the file is mapped into memory."""
        return _slices(_columns_of(_mapped(path)), columns, rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema, in the type that holds all its columns."""
        return _ArraySink(path, schema)


class NumpyArchive(TableFormat):
    """Arrays of one length, held in memory.

    An array (n,) is a column with its name; an array (n, d) named x is the columns "x.0", "x.1", …
    A single array (n, d) is read as a .npy is.
    """

    name = ".npz"
    content = Content.ZIP

    def names(self, path: Path) -> list[str]:
        """Columns of a file."""
        return list(_archived(path))

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn."""
        return _slices(_archived(path), columns, rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema: an array a column."""
        return _ArchiveSink(path, schema)


def _mapped(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        check_claims(file, path.stat().st_size)
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _archived(path: Path) -> Arrays:
    arrays = read_members(path)
    if len(arrays) == 1 and next(iter(arrays.values())).ndim == 2:
        return _columns_of(next(iter(arrays.values())))
    lengths = {name: f"{name}: {array.shape}" for name, array in arrays.items()}
    if len({array.shape[:1] for array in arrays.values()}) > 1:
        raise TableError(f"Its arrays differ in length: {quoted(lengths.values())}.")
    columns: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        columns |= {name: array} if array.ndim == 1 else _columns_of(array, f"{name}.")
        check_columns(len(columns))
    return columns


def _columns_of(array: NDArray[Any], prefix: str = "") -> Arrays:
    if array.dtype.names is not None and array.ndim == 1:
        return {prefix + name: array[name] for name in array.dtype.names}
    if array.ndim not in (1, 2):
        raise TableError(f"A table is an array of shape (n, d); this one has {array.shape}.")
    check_columns(array.shape[1] if array.ndim == 2 else 1)
    columns = array.reshape(len(array), -1) if array.ndim == 1 else array
    return {f"{prefix}{i}": columns[:, i] for i in range(columns.shape[1])}


def _slices(found: Arrays, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
    n = len(found[columns[0]])
    for start in range(0, max(n, 1), rows):
        yield pa.table({name: _arrow(name, found[name][start : start + rows]) for name in columns})


def _arrow(name: str, values: NDArray[Any]) -> pa.Array:
    if values.dtype.kind not in "biufUMm" or values.ndim != 1:
        raise TableError(
            f"Column {shown(name)} holds {values.dtype} of shape {values.shape}; a column holds "
            "one number, boolean, text or date per row."
        )
    return pa.array(values.astype(_arrow_dtype(values.dtype)))


def _arrow_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type among those that Arrow knows: native byte order, units from days to nanoseconds."""
    if dtype.kind == "f":
        return np.dtype({2: np.float32, 4: np.float32}.get(dtype.itemsize, np.float64))
    if dtype.kind in "Mm":
        unit = np.datetime_data(dtype)[0]
        known = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit, unit)
        if dtype.kind == "m" and known == "D":
            known = "s"  # Arrow's durations begin at seconds
        return np.dtype(f"{dtype.kind}8[{known}]")
    return dtype.newbyteorder("=")


class _ArraySink(Sink):
    """Rows are appended; the header with their number is rewritten at the end."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._dtype = np.result_type(*(_number_dtype(field) for field in schema))
        self._shape = (0, len(schema))
        self._file = path.open("wb")
        self._write_header()

    def write(self, table: pa.Table) -> None:
        columns = [_numpy(name, table[name]) for name in table.column_names]
        rows = np.stack(columns, axis=1).astype(self._dtype)
        self._file.write(rows.tobytes())
        self._shape = (self._shape[0] + len(rows), self._shape[1])

    def close(self) -> None:
        with self._file:
            self._file.seek(0)
            self._write_header()  # as long as before: NumPy leaves room for 21 digits

    def _write_header(self) -> None:
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": self._shape}
        np.lib.format.write_array_header_1_0(self._file, header)


class _ArchiveSink(Sink):
    """Tables are kept until the end, because a member of an archive is written at once."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._tables = [schema.empty_table()]

    def write(self, table: pa.Table) -> None:
        self._tables.append(table)

    def close(self) -> None:
        table = pa.concat_tables(self._tables)
        columns = {name: _numpy(name, table[name]) for name in table.column_names}
        with ZipFile(self._path, "w") as archive:
            for name, values in columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)


def _number_dtype(field: pa.Field) -> np.dtype[Any]:
    kind = field.type
    if pa.types.is_decimal(kind):
        return np.dtype(np.float64)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise TableError(
            f"Column {shown(field.name)} holds {kind}, and a .npy holds numbers only. Write a "
            ".parquet or a .csv."
        )
    return np.dtype(kind.to_pandas_dtype())


def _numpy(name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_floating(column.type) or pa.types.is_temporal(column.type):
        values = column.to_numpy()  # NaN or NaT where a value is missing
    elif column.null_count:
        raise TableError(
            f"Column {shown(name)} lacks {counted(column.null_count, 'value')}, and a NumPy array "
            f"of {column.type} has no sign for that. Write a .parquet or a .csv."
        )
    else:
        values = column.to_numpy()
    return _without_objects(name, column, values)


def _without_objects(name: str, column: pa.ChunkedArray, values: NDArray[Any]) -> NDArray[Any]:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return values.astype(np.str_)
    if values.dtype == np.object_:
        raise TableError(
            f"Column {shown(name)} holds {column.type}, which NumPy cannot hold. Write a .parquet."
        )
    return values


_LONGEST_HEADER = 10_000  # the limit of NumPy, which allocates the memory before it checks
_AFTER_MAGIC = 8  # bytes: the magic word and the version


def check_claims(file: IO[bytes], size: int) -> None:
    """Check type and size of the array at the start of an open file.

    Args:
        file: at its beginning.
        size: in bytes.

    Raises:
        TableError: If it holds Python objects, or the file has fewer bytes than the array.
        ValueError: If it is no array at all.
    """
    shape, dtype = _header(file)
    if dtype.hasobject:
        raise TableError(
            "It holds Python objects, which are not loaded because reading them can run code. "
            "Save an array of numbers or text: `np.save(path, array.astype(float))`."
        )
    needed = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or min(shape, default=0) < 0 or file.tell() + needed > size:
        raise TableError(
            f"It claims an array {shown(shape)} of {shown(dtype)} and has {size:,} bytes: it was "
            "cut short or damaged. Write it again."
        )


def read_members(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive, by name; nothing is unpacked to disk."""
    with ZipFile(path) as archive:
        members = archive.infolist()
        check_columns(len(members))
        check_unpacked(path, sum(member.file_size for member in members))
        arrays = {
            member.filename.removesuffix(".npy"): _member(archive, member) for member in members
        }
    others = [name for name, array in arrays.items() if array is None]
    if others or not arrays:
        raise TableError(f"It holds no arrays, but {quoted(others) or 'nothing'}.")
    return {name: array for name, array in arrays.items() if array is not None}


def _member(archive: ZipFile, member: ZipInfo) -> NDArray[Any] | None:
    """The array of a member; None if it is not an array."""
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise TableError(f"{shown(member.filename)} is packed in a way that NumPy does not use.")
    with archive.open(member) as file:
        if file.read(6) != np.lib.format.MAGIC_PREFIX:
            return None
    with archive.open(member) as file:
        check_claims(file, member.file_size)
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    major, _ = np.lib.format.read_magic(file)
    length = int.from_bytes(file.read(2 if major == 1 else 4), "little")
    if length > _LONGEST_HEADER:
        raise TableError(f"Its header claims {length:,} bytes; {_LONGEST_HEADER:,} are the most.")
    file.seek(_AFTER_MAGIC)
    # Version 3 differs from 2 in the letters that names of fields may have, which no one asks here.
    read = (
        np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(file)
    return shape, dtype
