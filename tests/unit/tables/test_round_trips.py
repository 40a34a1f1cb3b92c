"""Tables that are written are read unchanged, as a whole and in pieces."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secant.tables.files import (
    TableError,
    TableWriter,
    column_names,
    read_batches,
    read_table,
    write_table,
)

# Any text but surrogates, which UTF-8 has not, and the end of a text in NumPy.
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
VALUES = {
    pa.float64(): st.floats(allow_nan=False),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.bool_(): st.booleans(),
    pa.string(): WORDS.map(lambda word: "w" + word),  # a file of text does not say that 1 is text
    pa.date32(): st.dates(),
    pa.time64("us"): st.times(),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.datetimes(),
}
NUMBERS = {kind: VALUES[kind] for kind in (pa.float64(), pa.int64(), pa.bool_())}
QUICK = settings(max_examples=40, deadline=None)


@st.composite
def tables(draw, types=VALUES, *, lacking=True):
    """A table with columns of these types, in which values may be lacking."""
    n, columns = draw(st.integers(1, 6)), {}
    for name in draw(st.lists(WORDS, min_size=1, max_size=4, unique=True)):
        kind = draw(st.sampled_from(list(types)))
        cells = st.one_of(st.none(), types[kind]) if lacking else types[kind]
        columns[name] = pa.array(draw(st.lists(cells, min_size=n, max_size=n)), kind)
    return pa.table(columns)


def written_and_read(suffix, table, rows):
    """The table read at once; pieces of `rows` rows must be the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        write_table(path, table)
        assert [p.name for p in Path(folder).iterdir()] == [path.name]
        whole = read_table(path)
        pieces = list(read_batches(path, batch_rows=rows))
        assert column_names(path) == tuple(whole.column_names)
    assert [piece.num_rows for piece in pieces[:-1]] == [rows] * (len(pieces) - 1)
    assert all(piece.schema == whole.schema for piece in pieces)
    assert pa.concat_tables(pieces).combine_chunks().equals(whole.combine_chunks())
    return whole


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@QUICK
@given(table=tables(), rows=st.integers(1, 4))
def test_formats_with_types_keep_them(suffix, table, rows):
    assert written_and_read(suffix, table, rows).equals(table)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@QUICK
@given(table=tables(), rows=st.integers(1, 4))
def test_text_keeps_the_values(suffix, table, rows):
    found = written_and_read(suffix, table, rows)
    assert found.column_names == table.column_names
    for name in table.column_names:
        assert found[name].cast(table[name].type).to_pylist() == table[name].to_pylist()


@QUICK
@given(
    table=tables({k: v for k, v in VALUES.items() if not pa.types.is_time(k)}, lacking=False),
    rows=st.integers(1, 4),
)
def test_an_archive_of_arrays_keeps_names_and_values(table, rows):
    found = written_and_read(".npz", table, rows)
    assert found.column_names == table.column_names
    for name in table.column_names:
        kind = table[name].type
        without_zone = kind if not pa.types.is_timestamp(kind) else pa.timestamp("us")
        assert found[name].equals(table[name].cast(without_zone))


@QUICK
@given(table=tables(NUMBERS, lacking=False), rows=st.integers(1, 4))
def test_an_array_keeps_the_numbers(table, rows):
    found = written_and_read(".npy", table, rows)
    assert found.column_names == [str(i) for i in range(table.num_columns)]
    mixed = len({str(column.type) for column in table.columns}) > 1
    for i, name in enumerate(table.column_names):
        expected = table[name].to_numpy().astype(float) if mixed else table[name].to_numpy()
        np.testing.assert_array_equal(found[str(i)].to_numpy(), expected)


def test_missing_numbers_are_nan_in_arrays(tmp_path):
    table = pa.table({"x": [1.5, None]})
    for suffix in (".npy", ".npz"):
        write_table(tmp_path / f"t{suffix}", table)
        np.testing.assert_array_equal(
            read_table(tmp_path / f"t{suffix}").column(0).to_numpy(), [1.5, np.nan]
        )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".npy", ".npz"])
def test_pieces_appended_are_one_table(tmp_path, suffix):
    whole = pa.table({"0": np.arange(10), "1": np.arange(10) / 4})
    with TableWriter(tmp_path / f"t{suffix}") as writer:
        for start in (0, 3, 6, 9):
            writer.append(whole.slice(start, 3))
    found = read_table(tmp_path / f"t{suffix}")
    assert found.cast(whole.schema).equals(whole)


def test_dictionaries_are_written_as_their_values(tmp_path):
    colours = pa.array(["red", "blue", "red"])
    for suffix in (".csv", ".parquet", ".arrow", ".npz"):
        with TableWriter(tmp_path / f"t{suffix}") as writer:
            writer.append(pa.table({"c": colours.dictionary_encode()}))
            writer.append(pa.table({"c": pa.array(["green"]).dictionary_encode()}))
        found = read_table(tmp_path / f"t{suffix}")["c"]
        assert found.to_pylist() == ["red", "blue", "red", "green"]


def test_arrow_streams_are_read_as_well(tmp_path):
    table = pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]})
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert read_table(path, ["y"]).equals(table.select(["y"]))


def test_columns_are_chosen_before_rows_are_read(tmp_path):
    table = pa.table({"a": [{"b": 1}, {"b": 2}], "a.b": [3, 4], "c": [5, 6], "d": ["x", "y"]})
    path = tmp_path / "t.parquet"
    write_table(path, table)
    assert read_table(path, ["d", "c"]).equals(table.select(["c", "d"]))
    assert next(read_batches(path, ["a.*"])).equals(table.select(["a.b"]))


def test_row_labels_of_pandas_are_no_column(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(path, pa.table({"x": [1, 2], "__index_level_0__": [7, 9]}))
    assert read_table(path).column_names == ["x"]
    assert read_table(path, ["__index_level_0__"]).column_names == ["__index_level_0__"]
    write_table(path, pa.table({"__index_level_0__": [7, 9]}))
    with pytest.raises(TableError, match="no columns"):
        read_table(path)
