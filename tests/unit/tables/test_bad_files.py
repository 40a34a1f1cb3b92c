"""Damaged files: a message with a remedy, never the reader's own error."""

import io
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secant.tables.files import TableError, column_names, read_batches, read_table, write_table


def parquet():
    buffer = io.BytesIO()
    pq.write_table(pa.table({"x": [1, 2, 3]}), buffer)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


BAD = {
    "an empty file": ("t.csv", b"", "is empty"),
    "a blank file": ("t.csv", b"\n\n", "is empty"),
    "names only": ("t.csv", b"a,b\n", "column names but no rows"),
    "no names": ("t.csv", b"1,2.5\n3,4\n", "numbers .'1', '2.5'., not column names. Put a line"),
    "a short row": ("t.csv", b"a,b\n1,2\n3\n", "Line 3 has 1 value, but there are 2 columns: '3'"),
    "a long row": ("t.tsv", b"a\tb\n1\t2\t3\n", "Line 2 has 3 values, but there are 2 columns"),
    "a bad row of odd bytes": ("t.csv", b"a,b\n1\xe9\n", "A line has 1 value, but there are 2"),
    "a long bad row": ("t.csv", b"a,b\n1,2\n" + b"x" * 999 + b"\n", "Line 3 has 1 value"),
    "a bad row of two lines": ("t.csv", b'a,b\n1,"2\n3",4\n', "Line 2 has 3 values"),
    "Latin 1": ("t.csv", "a,b\n1,é\n".encode("latin-1"), "not in UTF-8. Convert it"),
    "names in Latin 1": ("t.csv", "é,b\n1,2\n".encode("latin-1"), "not in UTF-8. Convert it"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), "holds text in UTF-16. Save it as UTF-8"),
    "a name twice": ("t.csv", b"a,b,a\n1,2,3\n", "Several columns are named 'a'. Rename"),
    "no name": ("t.csv", b",a\n0,1\n", "Column 1 has no name. .*index=False"),
    "Parquet as CSV": ("t.csv", parquet(), "holds Parquet. Use the extension .parquet"),
    "CSV as Parquet": ("t.parquet", b"a,b\n1,2\n", "should hold Parquet by its name, but .* text"),
    "a spreadsheet": ("t.csv", b"PK\x03\x04...", "a spreadsheet must be saved as CSV"),
    "gzip": ("t.csv", b"\x1f\x8b...", "Unpack it first"),
    "old Feather": ("t.feather", b"FEA1....", "Feather of version 1. Write it as version 2"),
    "half of a Parquet": (
        "t.parquet",
        parquet()[:50],
        "cannot be read as Parquet; it seems damaged",
    ),
    "half of an array": ("t.npy", npy(np.zeros((9, 9)))[:200], "claims an array .* cut short"),
    "half of an archive": ("t.npz", npz(a=np.zeros(9))[:60], "cannot be read as .npz"),
    "half of an Arrow file": ("t.arrow", b"ARROW1\0\0\xff\xff", "cannot be read as Arrow"),
    "a pickle": ("t.npy", npy(np.array([{}], object)), "Python objects, which are not loaded"),
    "pickles": ("t.npz", npz(a=np.array([{}], object)), "Python objects, which are not loaded"),
    "a cube": ("t.npy", npy(np.zeros((2, 2, 2))), r"shape \(n, d\); this one has \(2, 2, 2\)"),
    "complex numbers": ("t.npy", npy(np.zeros((2, 2), complex)), "'0' holds complex128"),
    "an array without rows": ("t.npy", npy(np.zeros((0, 2))), "column names but no rows"),
    "an array without columns": ("t.npy", npy(np.zeros((2, 0))), "no columns"),
    "arrays of two lengths": ("t.npz", npz(a=np.zeros(2), b=np.zeros(3)), "differ in length"),
    "an unknown ending": ("t.xlsx", b"PK", "'.xlsx'; a table ends in one of .csv, .tsv, .parquet"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_and_what_to_do(tmp_path, case):
    name, content, message = BAD[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(tmp_path / name)
    assert str(tmp_path / name)[:30] in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(TableError, match=message):
        list(read_batches(tmp_path / name))


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "people.csv").write_text("a\n1\n")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match=r"does not exist; did you mean 'people.csv'\?"):
        read_table(tmp_path / "peple.csv")
    with pytest.raises(TableError, match=r"does not exist\.$"):  # no name is near this one
        read_table(tmp_path / "wine.csv")
    with pytest.raises(TableError, match="does not exist"):
        column_names(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(TableError, match="is a folder; name a file in it"):
        read_table(tmp_path / "folder.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_that_may_not_be_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    with pytest.raises(TableError, match="cannot be read: Permission denied"):
        read_table(path)


def whole_files(folder):
    table = pa.table({"x": [1.0, 2.0, 3.0], "0": [4, 5, 6], "s": ["a", "b", "c"]})
    for suffix in (".csv", ".parquet", ".arrow", ".npz"):
        write_table(folder / f"whole{suffix}", table)
    write_table(folder / "whole.npy", table.drop(["s"]))
    return {path.suffix: path.read_bytes() for path in folder.glob("whole.*")}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return whole_files(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".npy", ".npz"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(files, tmp_path_factory, suffix, data):
    content = bytearray(files[suffix])
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / f"damaged{suffix}"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        table = read_table(path)
    except TableError:
        return
    assert table.num_rows > 0


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_other_delimiters_and_decimal_commas(tmp_path, sign):
    lines = ["x", "name", "n"], ["0,5", "a,b", "1"], ["-1,25e2", "c", "2"], ["", "3,5", "3"]
    (tmp_path / "t.csv").write_text("\n".join(sign.join(line) for line in lines) + "\n")
    found = read_table(tmp_path / "t.csv")
    assert found.to_pydict() == {
        "x": [0.5, -125.0, None],
        "name": ["a,b", "c", "3,5"],
        "n": [1, 2, 3],
    }
    assert pa.concat_tables(read_batches(tmp_path / "t.csv")).equals(found)


def test_commas_between_values_are_no_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text('x,y\n"1,234",2\n')
    assert read_table(tmp_path / "t.csv")["x"].to_pylist() == ["1,234"]
