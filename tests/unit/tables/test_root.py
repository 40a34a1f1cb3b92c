"""ROOT files, where uproot is installed."""

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from secant.cli import app
from secant.tables.errors import TableError
from secant.tables.files import column_names, read_batches, read_table, write_table
from secant.tables.formats import root

COLUMNS = {
    "pt": pa.array(np.linspace(0.0, 1.0, 10)),
    "charge": pa.array(np.tile([-1, 1], 5).astype(np.int32)),
    "is_tight": pa.array(np.tile([True, False], 5)),
}


@pytest.fixture
def uproot():
    return pytest.importorskip("uproot", reason="uproot is not installed (extra `root`)")


@pytest.fixture
def table():
    return pa.table(COLUMNS)


def test_without_uproot_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.root").write_bytes(b"root" + bytes(100))
    monkeypatch.setitem(__import__("sys").modules, "uproot", None)
    with pytest.raises(ImportError, match=r"secant\[root\]"):
        column_names(tmp_path / "a.root")
    found = CliRunner().invoke(app, ["compare", str(tmp_path / "a.root"), str(tmp_path / "a.root")])
    assert found.exit_code == 2
    assert "secant[root]" in found.stderr


def test_what_is_no_root_file_is_refused(tmp_path):
    (tmp_path / "a.root").write_text("pt,charge\n1,2\n", encoding="utf-8")
    with pytest.raises(TableError, match="should hold ROOT by its name, but holds text"):
        column_names(tmp_path / "a.root")


@pytest.mark.usefixtures("uproot")
def test_a_table_comes_back_as_it_was(table, tmp_path):
    write_table(tmp_path / "a.root", table)
    assert column_names(tmp_path / "a.root") == tuple(COLUMNS)
    assert read_table(tmp_path / "a.root").equals(table)
    assert read_table(tmp_path / "a.root", ["pt"]).column_names == ["pt"]


@pytest.mark.usefixtures("uproot")
def test_pieces_add_up(table, tmp_path):
    write_table(tmp_path / "a.root", table)
    pieces = list(read_batches(tmp_path / "a.root", batch_rows=4))
    assert [piece.num_rows for piece in pieces] == [4, 4, 2]
    assert pa.concat_tables(pieces).combine_chunks().equals(table)


def test_the_newer_kind_of_tree_is_read_too(uproot, tmp_path):
    values = {"pt": np.linspace(0.0, 1.0, 5), "name": np.array(list("abcde"))}
    with uproot.recreate(tmp_path / "a.root") as file:
        file["events"] = values
    found = read_table(tmp_path / "a.root")
    assert found["name"].to_pylist() == list("abcde")
    assert found["pt"].to_numpy() == pytest.approx(values["pt"])


def test_branches_with_lists_are_refused_by_name(uproot, tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mktree("events", {"pt": np.dtype("f8"), "xyz": np.dtype(("f8", (3,)))})
        file["events"].extend({"pt": np.zeros(4), "xyz": np.zeros((4, 3))})
    with pytest.raises(TableError, match=r"several values a row: 'xyz'.*'!xyz'"):
        read_table(tmp_path / "a.root")
    assert read_table(tmp_path / "a.root", ["!xyz"]).num_rows == 4


def test_several_trees_or_none_are_refused(uproot, tmp_path):
    with uproot.recreate(tmp_path / "two.root") as file:
        for name in ("a", "b"):
            file.mktree(name, {"pt": np.dtype("f8")})
            file[name].extend({"pt": np.zeros(2)})
    with pytest.raises(TableError, match="holds 2 trees, 'a', 'b'"):
        column_names(tmp_path / "two.root")
    with uproot.recreate(tmp_path / "none.root"):
        pass
    with pytest.raises(TableError, match="No tree; expected one"):
        column_names(tmp_path / "none.root")


@pytest.mark.usefixtures("uproot")
def test_what_a_tree_cannot_hold_is_not_written(table, tmp_path):
    with pytest.raises(TableError, match=r"numbers and flags only"):
        write_table(tmp_path / "a.root", table.append_column("name", pa.array(list("abcdefghij"))))
    gaps = pa.table({"pt": pa.array([1.0, None])})
    with pytest.raises(TableError, match="has missing values"):
        write_table(tmp_path / "a.root", gaps)
    assert not (tmp_path / "a.root").exists()


def test_a_damaged_file_is_named(uproot, table, tmp_path):
    write_table(tmp_path / "a.root", table)
    whole = (tmp_path / "a.root").read_bytes()
    (tmp_path / "a.root").write_bytes(whole[:200])
    with pytest.raises(TableError, match="cannot be read"):
        read_table(tmp_path / "a.root")


def test_the_format_is_known_by_its_first_bytes(table, uproot, tmp_path):
    write_table(tmp_path / "a.root", table)
    (tmp_path / "a.root").rename(tmp_path / "a.csv")
    with pytest.raises(TableError, match=r"holds ROOT. Let its name end in \.root"):
        column_names(tmp_path / "a.csv")
    assert uproot is not None
    assert root.Root.name == "ROOT"
