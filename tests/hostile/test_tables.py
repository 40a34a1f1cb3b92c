"""Crafted tables: read, or refused with a message, within bounds of memory and time."""

import io
import os
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile.spoiling import Watch, spoiled_bytes, tally, told
from tests.unit.tables.test_bad_files import whole_files

from secant.tables import Missing
from secant.tables.encoding import Encoding
from secant.tables.files import TableError, read_batches, read_table, write_table
from secant.tables.formats import base

SUFFIXES = (".csv", ".parquet", ".arrow", ".npy", ".npz")


def npy(shape, descr="'<f8'", data=b"", *, version=1):
    """An array file whose header says so, whatever follows it."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n".encode("latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def npz(members, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


HOSTILE = {
    "more rows than bytes": ("t.npy", npy((10**13,)), "claims an array .* cut short or damaged"),
    "values of no size": ("t.npy", npy((10**9, 2), "'<U0'"), "claims an array"),
    "no rows of a billion columns": ("t.npy", npy((0, 10**9)), "1,000,000,000 columns; 65,536"),
    "fewer than no rows": ("t.npy", npy((-1, 2), data=b"\0" * 64), "claims an array"),
    "a header of 4 GB": ("t.npy", b"\x93NUMPY\x02\0\xff\xff\xff\xff{", "4,294,967,295 bytes"),
    "code for a header": ("t.npy", npy("__import__('os').abort()"), "cannot be read as .npy"),
    "objects in a field": ("t.npy", npy((2,), "[('a', '|O')]", b"\0" * 16), "Python objects"),
    "a member that lies": ("t.npz", npz({"a.npy": npy((10**10,))}), "claims an array"),
    "no rows, many columns": ("t.npz", npz({"a.npy": npy((0, 10**9))}), "65,536 are the most"),
    "a member of text": ("t.npz", npz({"a.npy": b"hello"}), "holds no arrays, but 'a'"),
    "a packing of its own": (
        "t.npz",
        npz({"a.npy": npy((2,), data=b"\0" * 16)}, compression=zipfile.ZIP_LZMA),
        "packed in a way that NumPy does not use",
    ),
    "a million columns": ("t.csv", b"," * (1 << 20) + b"\n", "1,048,577 columns; 65,536"),
    "a first line without end": ("t.csv", b"a" * (9 << 20), "longer than 8 MB"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_wrong(tmp_path, case):
    name, content, said = HOSTILE[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=said):
        read_table(tmp_path / name)
    with pytest.raises(TableError, match=said):
        list(read_batches(tmp_path / name))


def test_names_of_members_are_only_names(tmp_path):
    column = npy((2,), data=b"\0" * 16)
    raw = npz({"/etc/passwd.npy": column, "../../x.npy": column})
    (tmp_path / "t.npz").write_bytes(raw)
    assert read_table(tmp_path / "t.npz").column_names == ["/etc/passwd", "../../x"]
    assert os.listdir(tmp_path) == ["t.npz"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npz"])
def test_a_bomb_is_refused_before_it_has_burst(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(base, "_FREELY", 1 << 20)
    monkeypatch.setattr(base, "_MOST_CELLS", 1 << 16)
    path, zeros = tmp_path / f"t{suffix}", np.zeros(1 << 20)
    if suffix == ".parquet":
        pq.write_table(pa.table({"x": zeros}), path, compression="zstd")
    elif suffix == ".arrow":
        schema, options = pa.schema({"x": pa.float64()}), pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(str(path), schema, options=options) as writer:
            writer.write_table(pa.table({"x": zeros}), max_chunksize=1 << 16)
    else:
        np.savez_compressed(path, x=zeros)
    with pytest.raises(TableError, match="made to fill the memory"):
        read_table(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_plain_files_are_read(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(TableError, match="a device or a pipe"):
            read_table(tmp_path / f"{name}{suffix}")


def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match="a device or a pipe"):
        write_table(tmp_path / "pipe.csv", pa.table({"x": [1.0]}))
    assert (tmp_path / "pipe.csv").is_fifo()


NAMES = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)


@settings(max_examples=25, deadline=None)
@given(names=NAMES, suffix=st.sampled_from([".parquet", ".arrow", ".csv"]))
def test_any_name_of_a_column_comes_back_or_is_refused(tmp_path_factory, names, suffix):
    path = tmp_path_factory.getbasetemp() / f"names{suffix}"
    columns = {name: [1.5, 2.5] for name in names}
    try:
        write_table(path, pa.table(columns))
        table = read_table(path)
    except (TableError, UnicodeEncodeError):  # half of a surrogate pair is no text to Arrow
        return
    assert table.to_pydict() == columns


KINDS = st.one_of(
    st.lists(st.floats(width=32, allow_infinity=False), min_size=4, max_size=4),
    st.lists(st.integers(-(2**53), 2**53), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.sampled_from(["a", "", "\x1b[2J", "NA", "<b>", "é"]), min_size=4, max_size=4),
    st.lists(st.dates(), min_size=4, max_size=4),
)


@settings(max_examples=60, deadline=None)
@given(columns=st.lists(KINDS, min_size=1, max_size=3), missing=st.sampled_from(Missing))
def test_an_encoding_survives_its_json(columns, missing):
    table = pa.table({f"c{i}": column for i, column in enumerate(columns)})
    try:
        made = Encoding.fitted([table], missing)
    except TableError:
        return
    again = Encoding.from_json(made.to_json())
    assert again == made
    np.testing.assert_array_equal(again.encode(table).rows, made.encode(table).rows)


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory):
    files = whole_files(tmp_path_factory.mktemp("whole"))
    return lambda suffix: lambda _, rng: spoiled_bytes(files[suffix], rng)


def outcome(path):
    try:
        assert read_table(path).num_rows > 0
    except TableError as error:
        assert len(str(error)) < 700  # noqa: PT017
        return "refused"
    return "read"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_two_thousand_spoiled_tables(spoiled, tmp_path, capsys, suffix):
    watch = Watch()
    path = tmp_path / f"t{suffix}"
    # Readers import parts of the standard library late, and once: other files come first.
    tally(watch, path, spoiled(suffix), outcome, n=500, seed=2)
    watch.seen.clear()
    counts, crashes = tally(watch, path, spoiled(suffix), outcome, n=2_000, seed=1)
    # NumPy parses the header of an array as a literal, which compiles it and runs nothing.
    watch.seen = seen = [event for event in watch.seen if event[0] != "compile"]
    with capsys.disabled():
        print(told(f"{suffix} tables", 2_000, watch, counts, crashes))
    assert (seen, crashes, counts["slow"]) == ([], [], 0)


def test_names_cannot_command_a_terminal(tmp_path):
    from typer.main import get_command

    from secant.cli import app

    rng = np.random.default_rng(0)
    names = ["\x1b[2Jx", "y\nerror: all is lost", "\u202ez\x9b31m"]
    for name in ("a", "b"):
        rows = dict(zip(names, rng.normal(size=(3, 40)), strict=True))
        write_table(tmp_path / f"{name}.parquet", pa.table(rows))
    line = ["compare", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    quick = ["--method", "logistic", "--permutations", "2"]
    for options in ([], ["--json"]):
        found = CliRunner().invoke(get_command(app), [*line, *quick, *options])
        assert found.exit_code == 0
        assert found.output.replace("\n", "").isprintable()
        assert not any(text.startswith("error") for text in found.output.splitlines())
