"""Reading in pieces: the same types as at once, in memory that does not grow with the rows."""

import gc

import numpy as np
import pyarrow as pa
import pytest

from secant.tables.files import TableError, read_batches, read_table, write_table
from secant.tables.formats import delimited

SMALL = 4096  # bytes of a block, so that short files have several


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "_BLOCK", SMALL)


def csv(folder, values):
    path = folder / "t.csv"
    path.write_text("x,y\n" + "".join(f"{value},1\n" for value in values), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [
        ("7", "8", pa.int64()),
        ("7", "8.5", pa.float64()),
        ("7", " 8 ", pa.int64()),
        ("7", "NA", pa.int64()),
        ("NA", "8", pa.int64()),
        ("NA", "", pa.null()),
        ("7", "true", pa.string()),
        ("1", "true", pa.bool_()),
        ("TRUE", "false", pa.bool_()),
        ("7", "99999999999999999999", pa.float64()),
        ("2020-02-03", "2020-02-04", pa.date32()),
        ("2020-02-03", "2020-02-04 10:30", pa.timestamp("us")),
        ("2020-02-03", "2020-02-04T10:30:00.123456789", pa.timestamp("ns")),
        ("2020-02-03T01:02:03Z", "2020-02-04T10:30:00+02:00", pa.timestamp("us", "UTC")),
        ("2020-02-03T01:02:03Z", "2020-02-03T01:02:03", pa.string()),
        ("10:30:00", "23:59:59.5", pa.time64("us")),
        ("2020-02-03", "2020-02-30", pa.string()),
        ("inf", "1", pa.float64()),
        ("7", "seven", pa.string()),
    ],
)
def test_a_late_value_decides_the_type_of_all(tmp_path, small_blocks, early, late, expected):
    path = csv(tmp_path, [early] * 3000 + [late])
    whole = read_table(path)
    pieces = list(read_batches(path, batch_rows=1000))
    assert whole.schema.field("x").type == expected
    assert [piece.num_rows for piece in pieces] == [1000, 1000, 1000, 1]
    assert all(piece.schema == whole.schema for piece in pieces)
    assert pa.concat_tables(pieces).combine_chunks().equals(whole.combine_chunks())


def test_text_on_demand(tmp_path):
    path = csv(tmp_path, ["007", "12"])
    assert read_table(path, text=["x"])["x"].to_pylist() == ["007", "12"]
    assert next(read_batches(path, text=["x"]))["x"].to_pylist() == ["007", "12"]
    assert read_table(path)["x"].to_pylist() == [7, 12]


def test_only_words_without_quotes_are_missing_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('country,size\n"NA",1\nNA,"NA"\n"",3\n,4\nDE,5\n')
    table = read_table(path)
    assert table["country"].to_pylist() == ["NA", None, "", None, "DE"]
    assert table["size"].to_pylist() == [1, None, 3, 4, 5]


def peak(path):
    gc.collect()
    start, most = pa.total_allocated_bytes(), 0
    for _ in read_batches(path, batch_rows=500):
        most = max(most, pa.total_allocated_bytes() - start)
    return most


# Rows from which on a reader's buffers are full.
@pytest.mark.parametrize(
    ("suffix", "n"), [(".csv", 50_000), (".parquet", 200_000), (".arrow", 200_000), (".npy", 1000)]
)
def test_memory_does_not_grow_with_the_rows(tmp_path, small_blocks, suffix, n):
    path, peaks = tmp_path / f"t{suffix}", []
    for rows in (n, 4 * n):
        write_table(path, pa.table({"x": np.random.default_rng(0).normal(size=rows)}))
        peaks.append(peak(path))
    assert peaks[1] < 1.1 * peaks[0] + 2**14
    assert peaks[1] < 0.5 * 4 * n * 8


def test_a_bad_row_far_below_is_found(tmp_path, small_blocks):
    path = csv(tmp_path, ["1"] * 3000 + ["1,2"])
    with pytest.raises(TableError, match=r"Line 3002 has 3 values, but there are 2 columns"):
        list(read_batches(path))


def test_a_quote_that_never_closes(tmp_path, small_blocks):
    path = csv(tmp_path, ["1"] * 10 + ['"1'] + ["1"] * 3000)
    with pytest.raises(TableError, match="Is a quotation mark not closed"):
        read_table(path)


def test_pieces_need_rows(tmp_path):
    with pytest.raises(ValueError, match="`batch_rows` must be at least 1; got 0"):
        read_batches(csv(tmp_path, ["1"]), batch_rows=0)
