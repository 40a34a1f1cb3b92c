"""Delimited text files, CSV and TSV, and the types of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from secant.tables.errors import TableError, counted, quoted, shown
from secant.tables.formats.base import (
    Content,
    Sink,
    TableFormat,
    WriterSink,
    check_columns,
    rebatched,
)

_BLOCK = 8 << 20  # bytes read at a time; no row may be longer
_NOT_UTF_8 = "It is not in UTF-8. Convert it with `iconv -t UTF-8`."
# Parts of Arrow's messages. Its handler of invalid rows fails on bytes that are not UTF-8.
_MEANINGS = {
    "UTF8": _NOT_UTF_8,
    "straddling": f"A row is longer than {_BLOCK >> 20} MB. Is a quotation mark not closed?",
    "Empty CSV": "It is empty: it holds not even column names.",
}
_SHOWN = 90  # bytes of an invalid row by which it is found; Arrow shows about 100 characters
_RAGGED = re.compile(
    r"Expected (?P<expected>\d+) columns, got (?P<got>\d+): (?P<row>.*)", re.DOTALL
)

# A column has the first of these types that every one of its values can be read as. All rows count,
# not the first few: reading by batches and reading at once find the same types.
_ORDER = (
    pa.null(),
    pa.int64(),
    pa.bool_(),
    pa.date32(),
    pa.time64("us"),
    *(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")),
    pa.float64(),
    pa.string(),
)
_MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "NULL", "null", "None", "NaN", "nan"),
    *("-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

_AT_ONCE = 2048  # values tried


@dataclass(frozen=True)
class Delimited(TableFormat):
    """Lines of text under a line of column names.

    If the header has no such delimiter but a semicolon, a tab or a bar, that is the delimiter, and
    numbers may have a decimal comma.

    Attributes:
        name: Name of the format.
        delimiter: Delimiter of the values.
    """

    name: str
    delimiter: str
    content = Content.TEXT

    def names(self, path: Path) -> list[str]:
        """Columns of a file, by its first line."""
        check_columns(_first_line(path).count(self._found(path).encode()) + 1)
        with _explained(path):
            found = list(self._opened(path).schema.names)
        if not _is_quoted(path):
            self._check_header(found)
        return found

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn; the file is read for types first."""
        comma = self._found(path) != ","
        types = _found_types(self._texts(path, columns), columns, text, decimal_comma=comma)
        texts = self._texts(path, columns)
        return rebatched((_with_types(t, types, decimal_comma=comma) for t in texts), rows)

    def read(self, path: Path, columns: Sequence[str], *, text: Sequence[str] = ()) -> pa.Table:
        """The whole table, its file read once."""
        comma = self._found(path) != ","
        tables = list(self._texts(path, columns))
        types = _found_types(tables, columns, text, decimal_comma=comma)
        return _with_types(pa.concat_tables(tables), types, decimal_comma=comma)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema; text is in quotes, other values are not."""
        options = csv.WriteOptions(delimiter=self.delimiter)
        return WriterSink(csv.CSVWriter(str(path), schema, write_options=options))

    def _texts(self, path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Tables of text, a block of the file each; the first has no rows."""
        is_single = len(self.names(path)) == 1
        with _explained(path):
            reader = self._opened(path, columns, is_single=is_single)
            yield reader.schema.empty_table()
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def _opened(
        self, path: Path, columns: Sequence[str] = (), *, is_single: bool = False
    ) -> csv.CSVStreamingReader:
        """A reader of these columns as text, or of all columns as they come."""
        return csv.open_csv(
            str(path),
            read_options=csv.ReadOptions(block_size=_BLOCK),
            parse_options=csv.ParseOptions(
                delimiter=self._found(path),
                newlines_in_values=True,
                ignore_empty_lines=not is_single,  # with a single column, a missing value
            ),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in columns},
                include_columns=columns,
                null_values=_MISSING,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,  # "NA" in quotes may be Namibia
            ),
        )

    def _check_header(self, names: list[str]) -> None:
        if all(_is_number(name) for name in names):
            raise TableError(
                f"The first line holds numbers ({quoted(names)}), not column names. Put a line "
                "of names above it; numbers that are names must be in quotes."
            )

    def _found(self, path: Path) -> str:
        """The delimiter of a file: that of the format, unless the header has another."""
        line = _first_line(path)
        if self.delimiter.encode() in line or b'"' in line:
            return self.delimiter
        return next((sign for sign in ";\t|," if sign.encode() in line), self.delimiter)


def _first_line(path: Path) -> bytes:
    """The first line of the header, which is longer if a quoted name has line breaks."""
    with path.open("rb") as file:
        line = file.readline(_BLOCK)
    if len(line) == _BLOCK:
        raise TableError(f"Its first line, of column names, is longer than {_BLOCK >> 20} MB.")
    return line


def _is_quoted(path: Path) -> bool:
    """Whether the header has quotes, so that numbers are meant as names."""
    return b'"' in _first_line(path)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """A context that translates the reader's errors."""
    try:
        yield
    except UnicodeDecodeError:
        raise TableError(_NOT_UTF_8) from None
    except pa.ArrowInvalid as error:
        message = next((words for sign, words in _MEANINGS.items() if sign in str(error)), None)
        ragged = _RAGGED.search(str(error))
        if ragged is not None:
            raise _ragged(path, ragged) from None
        if message is not None:
            raise TableError(message) from None
        raise


def _ragged(path: Path, found: re.Match[str]) -> TableError:
    text = found["row"].removesuffix(" ...")
    return TableError(
        f"{_line(path, text)} has {counted(int(found['got']), 'value')}, but there are "
        f"{found['expected']} columns: {shown(text)}. Values that hold the delimiter must be in "
        "quotes, and quotes must be closed."
    )


def _line(path: Path, text: str) -> str:
    """The text "Line 7" for the first line with this beginning, or "A line" if there is none."""
    wanted = text.partition("\n")[0].rstrip("\r").encode()[:_SHOWN]
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.rstrip(b"\r\n")[:_SHOWN] == wanted:
                return f"Line {number}"
    return "A line"


def _found_types(
    batches: Iterable[pa.Table], columns: Sequence[str], text: Sequence[str], *, decimal_comma: bool
) -> dict[str, pa.DataType]:
    """The type of each column, from tables of text; those in `text` stay text.

    `decimal_comma` says that numbers may be written as 0,5.
    """
    possible = {name: [pa.string()] if name in text else list(_ORDER) for name in columns}
    for table in batches:
        for name, types in possible.items():
            if len(types) > 1:
                values = _values(table[name], decimal_comma=decimal_comma)
                possible[name] = [kind for kind in types if _is_readable(values, kind)]
    return {name: types[0] for name, types in possible.items()}


def _with_types(
    table: pa.Table, types: Mapping[str, pa.DataType], *, decimal_comma: bool
) -> pa.Table:
    """A table of text, each column read as its type."""
    return pa.table(
        {
            name: table[name]
            if kind == pa.string()
            else _read_as(_values(table[name], decimal_comma=decimal_comma), kind)
            for name, kind in types.items()
        }
    )


def _is_readable(values: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Whether all values can be read as a type; in small parts, to stop at the first failure."""
    try:
        for start in range(0, len(values), _AT_ONCE):
            _read_as(values.slice(start, _AT_ONCE), kind)
    except pa.ArrowInvalid:
        return False
    return True


def _values(column: pa.ChunkedArray, *, decimal_comma: bool) -> pa.ChunkedArray:
    """Values without surrounding space, null for a missing one; numbers with a decimal point."""
    trimmed = pc.ascii_trim_whitespace(column)
    missing = pc.is_in(trimmed, value_set=pa.array(_MISSING))
    values = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    if not decimal_comma:
        return values
    return pc.replace_substring_regex(
        values, r"^([-+]?[0-9]*),([0-9]+([eE][-+]?[0-9]+)?)$", r"\1.\2"
    )


def _read_as(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_null(kind):
        if values.null_count < len(values):
            raise pa.ArrowInvalid("There are values.")
        return pa.chunked_array([pa.nulls(len(values))])
    if pa.types.is_time(kind):  # no cast from text: the time of some day is one
        moments = pc.binary_join_element_wise("1970-01-01", values, " ")
        return pc.cast(pc.cast(moments, pa.timestamp("us")), kind)
    return pc.cast(values, kind)
