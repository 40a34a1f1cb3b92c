"""Files appear whole or not at all."""

import os
import stat

import pyarrow as pa
import pytest

from secant._host import atomic_files as atomic
from secant._host.atomic_files import replacing
from secant.tables.files import TableError, TableWriter, read_table, write_table

SUFFIXES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npy", ".npz")
TABLE = pa.table({"0": [1, 2]})


def write_and_fail(path):
    with TableWriter(path) as writer:
        writer.append(TABLE)
        raise ZeroDivisionError


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    write_table(path, TABLE)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        write_and_fail(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch, suffix):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(TableError, match="cannot be written: No space left on device"):
        write_table(tmp_path / f"t{suffix}", TABLE)
    assert os.listdir(tmp_path) == []


def test_the_bytes_are_on_disk_before_the_name_is(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(atomic.os, "fsync", lambda d: (order.append(kind(d)), fsync(d)))
    monkeypatch.setattr(atomic.os, "replace", lambda a, b: (order.append("name"), replace(a, b)))
    write_table(tmp_path / "t.csv", TABLE)
    assert order == ["file", "name", "folder"]


def kind(descriptor):
    return "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"


def test_a_link_stays_a_link(tmp_path):
    write_table(tmp_path / "real.csv", TABLE)
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_table(tmp_path / "link.csv", pa.table({"a": [3]}))
    assert (tmp_path / "link.csv").is_symlink()
    assert read_table(tmp_path / "real.csv")["a"].to_pylist() == [3]


def test_files_have_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    with replacing(tmp_path / "t") as part:
        part.touch()
    assert (tmp_path / "t").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_cannot_be_written_is_told(tmp_path):
    with pytest.raises(TableError, match="is not a folder"):
        write_table(tmp_path / "nowhere" / "t.csv", TABLE)
    with pytest.raises(TableError, match=r"'.xls'; a table ends in one of .csv"):
        write_table(tmp_path / "t.xls", TABLE)
    with pytest.raises(TableError, match="nothing to write"), TableWriter(tmp_path / "t.csv"):
        pass
    with pytest.raises(TableError, match="Several columns are named 'a'"):
        write_table(tmp_path / "t.csv", pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(TableError, match="no columns"):
        write_table(tmp_path / "t.parquet", pa.table({}))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("suffix", "column", "message"),
    [
        (".csv", pa.array([[1]]), "CSV cannot hold this table: .*list.*Try a .parquet"),
        (".npy", pa.array(["a"]), "'a' holds string, and a .npy holds numbers only"),
        (".npy", pa.array([1, None]), "lacks 1 value, and a NumPy array of int64 has no sign"),
        (".npz", pa.array(["a", None]), "lacks 1 value, and a NumPy array of string has no sign"),
        (".npz", pa.array([[1]]), "which NumPy cannot hold"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path, suffix, column, message):
    with pytest.raises(TableError, match=message):
        write_table(tmp_path / f"t{suffix}", pa.table({"a": column}))
    assert os.listdir(tmp_path) == []


def test_pieces_must_be_alike(tmp_path):
    message = "The first rows had columns 'a: int64'; these have 'b: int64'"
    with TableWriter(tmp_path / "t.csv") as writer:
        writer.append(pa.table({"a": [1]}))
        with pytest.raises(TableError, match=message):
            writer.append(pa.table({"b": [1]}))
    assert read_table(tmp_path / "t.csv")["a"].to_pylist() == [1]
