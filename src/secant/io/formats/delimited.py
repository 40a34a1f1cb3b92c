"""Text files with a value between delimiters: CSV and TSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from secant.io.errors import TableError, counted, quoted, shown
from secant.io.formats.base import Sink, TableFormat, rebatched
from secant.io.formats.signatures import Content
from secant.io.formats.text_types import MISSING_WORDS, found_types, with_types

__all__ = ["Delimited"]

_BLOCK = 8 << 20  # bytes read at a time; no row may be longer
_NOT_UTF_8 = "It is not in UTF-8. Save it so, or convert it with `iconv -t UTF-8`."
_NEVER_ENDING = (
    f"A row is longer than {_BLOCK >> 20} MB. Most likely a quotation mark is not closed."
)


@dataclass(frozen=True)
class Delimited(TableFormat):
    """Lines of text under a line of column names.

    Attributes:
        name: How the format is called.
        delimiter: What stands between two values.
    """

    name: str
    delimiter: str
    content = Content.TEXT

    def names(self, path: Path) -> list[str]:
        """Columns of a file, by its first line."""
        with _explained(path, []):
            found = list(self._opened(path, _skipped).schema.names)
        if not _is_quoted(path):
            self._check_header(found)
        return found

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn; the file is read for types first."""
        types = found_types(self._texts(path, columns), columns, text)
        return rebatched((with_types(t, types) for t in self._texts(path, columns)), rows)

    def read(self, path: Path, columns: Sequence[str], *, text: Sequence[str] = ()) -> pa.Table:
        """The whole table, its file read once."""
        tables = list(self._texts(path, columns))
        types = found_types(tables, columns, text)
        return with_types(pa.concat_tables(tables), types)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file for rows of this schema; text is in quotes, other values are not."""
        options = csv.WriteOptions(delimiter=self.delimiter)
        return _DelimitedSink(csv.CSVWriter(str(path), schema, write_options=options))

    def _texts(self, path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Tables of text, a block of the file each; the first has no rows."""
        bad_rows: list[csv.InvalidRow] = []

        def noted(row: csv.InvalidRow) -> str:
            bad_rows.append(row)
            return "error"

        is_single = len(self.names(path)) == 1
        with _explained(path, bad_rows):
            reader = self._opened(path, noted, columns, is_single=is_single)
            yield reader.schema.empty_table()
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def _opened(
        self,
        path: Path,
        on_bad_row: Callable[[csv.InvalidRow], str],
        columns: Sequence[str] = (),
        *,
        is_single: bool = False,
    ) -> csv.CSVStreamingReader:
        """A reader of these columns as text, or of all columns as they come."""
        return csv.open_csv(
            str(path),
            read_options=csv.ReadOptions(block_size=_BLOCK),
            parse_options=csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=not is_single,  # with a single column, a missing value
                invalid_row_handler=on_bad_row,
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
        other = next((sign for sign in ";\t|," if len(names) == 1 and sign in names[0]), None)
        if other is not None:
            raise TableError(
                f"The first line has no {shown(self.delimiter)} but {shown(other)} between its "
                f"names. A .csv has commas between values and a .tsv has tabs: write it anew."
            )


def _is_quoted(path: Path) -> bool:
    """Whether the line of names has quotes: then they are meant as they stand."""
    with path.open("rb") as file:
        return b'"' in file.readline(_BLOCK)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _skipped(_: csv.InvalidRow) -> str:
    return "skip"


@contextmanager
def _explained(path: Path, bad_rows: Sequence[csv.InvalidRow]) -> Iterator[None]:
    """What a reader's error means to who wrote the file."""
    try:
        yield
    except UnicodeDecodeError:
        raise TableError(_NOT_UTF_8) from None
    except pa.ArrowInvalid as error:
        if bad_rows:
            raise _ragged(path, bad_rows[0]) from None
        if "UTF8" in str(error):
            raise TableError(_NOT_UTF_8) from None
        if "straddling" in str(error):
            raise TableError(_NEVER_ENDING) from None
        if "Empty CSV" in str(error):
            raise TableError("It is empty: it holds not even column names.") from None
        raise


def _ragged(path: Path, row: csv.InvalidRow) -> TableError:
    return TableError(
        f"{_line_number(path, row.text)} has {counted(row.actual_columns, 'value')}, but "
        f"there are {row.expected_columns} columns: {shown(row.text)}. Values that hold the "
        "delimiter must be in quotes, and quotes must be closed."
    )


def _line_number(path: Path, text: str) -> str:
    """The words "Line 7", or "A line" where it cannot be told."""
    wanted = text.encode().splitlines()[:1]
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if [line.rstrip(b"\r\n")] == wanted:
                return f"Line {number}"
    return "A line"


class _DelimitedSink(Sink):
    def __init__(self, writer: csv.CSVWriter) -> None:
        self._writer = writer

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()
