"""Delimited text files: CSV and TSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
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
from secant.tables.formats.text_types import MISSING_WORDS, found_types, with_types

_BLOCK = 8 << 20  # bytes read at a time; no row may be longer
_NOT_UTF_8 = "It is not in UTF-8. Save it so, or convert it with `iconv -t UTF-8`."
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
        types = found_types(self._texts(path, columns), columns, text, decimal_comma=comma)
        texts = self._texts(path, columns)
        return rebatched((with_types(t, types, decimal_comma=comma) for t in texts), rows)

    def read(self, path: Path, columns: Sequence[str], *, text: Sequence[str] = ()) -> pa.Table:
        """The whole table, its file read once."""
        comma = self._found(path) != ","
        tables = list(self._texts(path, columns))
        types = found_types(tables, columns, text, decimal_comma=comma)
        return with_types(pa.concat_tables(tables), types, decimal_comma=comma)

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
        self,
        path: Path,
        columns: Sequence[str] = (),
        *,
        is_single: bool = False,
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
                null_values=MISSING_WORDS,
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
