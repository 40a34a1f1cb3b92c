"""The bytes of a file: every defect has a clear message."""

import gc
import io
import os
import re
import tracemalloc
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors
from tests.unit.model_files.sealed import changed, header_text, with_header

import secant
from secant.model_files import ModelFileError, container, read_metadata
from secant.model_files.container import unpacked
from secant.model_files.saving import FORMAT

REFUSED = ModelFileError


@pytest.fixture
def raw(path):
    return path.read_bytes()


def archive():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as found:
        found.writestr("archive/data.pkl", b"cos\nsystem\n(S'exit'\ntR.")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"\x00", "not a model that secant has saved"),
        (archive(), r"it is not a model that secant has saved; it starts with b'PK"),
        (b"\x80\x04\x95" + b"x" * 99, "not a model that secant has saved"),
        (b"a,b\n1,2\n" * 9, "not a model that secant has saved"),
        (save_tensors({"a": np.ones(3)}), "safetensors, but not a model that secant has saved"),
        (save_tensors({"a": np.ones(3)}, {"x": "y"}), "safetensors, but not a model"),
    ],
)
def test_files_of_other_kinds(tmp_path, content, words):
    path = tmp_path / "other.secant"
    path.write_bytes(content)
    for door in (secant.load, read_metadata):
        with pytest.raises(REFUSED, match=f"cannot (load|read) .*other.secant: .*{words}"):
            door(path)


def test_places_without_a_file(tmp_path):
    with pytest.raises(REFUSED, match="there is no such file"):
        secant.load(tmp_path / "none.secant")
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(REFUSED, match="it is not a plain file"):
            secant.load(place)


def test_every_bit_counts(raw):
    """One flipped bit in every fourth byte, from the first to the last."""
    for i in range(0, len(raw), 4):
        flipped = bytearray(raw)
        flipped[i] ^= 1 << (i // 4 % 8)
        with pytest.raises(REFUSED):
            unpacked(flipped)


def test_every_length_counts(raw):
    for length in range(0, len(raw), 5):
        with pytest.raises(REFUSED):
            unpacked(raw[:length])
    with pytest.raises(REFUSED, match="it was cut short"):
        unpacked(raw[:-1])
    with pytest.raises(REFUSED, match="it was cut short"):
        unpacked(raw[:500])
    with pytest.raises(REFUSED, match="something was added to it"):
        unpacked(raw + b"\0")


def test_a_flip_in_the_numbers_is_a_wrong_checksum(raw):
    flipped = bytearray(raw)
    flipped[-9] ^= 4
    with pytest.raises(REFUSED, match="its checksum is wrong: it was changed or damaged"):
        unpacked(flipped)


def test_metadata_are_not_read_from_a_damaged_file(path, raw):
    flipped = bytearray(raw)
    flipped[-9] ^= 4
    path.write_bytes(flipped)
    with pytest.raises(REFUSED, match="its checksum is wrong"):
        read_metadata(path)


@pytest.mark.parametrize("claim", [10 << 30, (1 << 64) - 1, (32 << 20) + 1, 1 << 20, 40, 0])
def test_a_header_of_another_length(path, raw, claim):
    path.write_bytes(claim.to_bytes(8, "little") + raw[8:])
    tracemalloc.start()
    with pytest.raises(REFUSED, match="its header claims"):
        secant.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_header_longer_than_any(path, raw):
    path.write_bytes((40 << 20).to_bytes(8, "little") + raw[8:])
    with path.open("r+b") as file:
        file.truncate(64 << 20)
    with pytest.raises(REFUSED, match="its header claims 41943040 bytes; 33554432 are the most"):
        secant.load(path)


def test_a_large_empty_file_takes_no_memory(path, raw):
    with path.open("r+b") as file:
        file.truncate(3 << 30)  # a hole: no disk is used
    gc.collect()
    tracemalloc.start()
    with pytest.raises(REFUSED, match="something was added to it"):
        secant.load(path)
    with path.open("r+b") as file:
        file.truncate(5 << 30)
    with pytest.raises(REFUSED, match="it has 5368709120 bytes; 4294967296 are the most"):
        secant.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_an_array_that_claims_more_than_the_file(path, raw):
    text = header_text(raw)
    end = max(int(n) for n in re.findall(rb'"data_offsets":\[\d+,(\d+)\]', text))
    for claim in (end + 8, 10 << 30, 1 << 62):
        path.write_bytes(with_header(raw, text.replace(b",%d]" % end, b",%d]" % claim)))
        with pytest.raises(REFUSED, match=r"it was cut short|lies at"):
            secant.load(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"F64"', b'"F63"', "is of type 'F63'"),
        (b'"F64"', b'["a"]', r"is of type \['a'\]"),
        (b'"F64"', b'"BF16"', "is of type 'BF16'"),
        (b'"shape":[10,2]', b'"shape":[-1,2]', "has shape"),
        (b'"shape":[10,2]', b'"shape":[99999999999999999,2]', "has shape"),
        (b'"shape":[10,2]', b'"shape":[9999999999999999999999999,2]', "an integer of 25 digits"),
        (b'"shape":[10,2]', b'"shape":[true,2]', "has shape"),
        (b'"shape":[10,2]', b'"shape":10', "has shape"),
        (b'"shape":[10,2]', b'"shape":[10,3]', "its checksum is wrong"),
        (b'"a0":{', b'"a1":{', "names something twice"),
        (b'"shape":[10,2]', b'"shape":[NaN,2]', "holds NaN"),
        (b'"shape":[10,2]', b'"shape":[1e999,2]', "beyond all bounds"),
        (b'"shape":[10,2]', b'"form":[10,2]', "is damaged"),
        (b'}"},"a', b'}","x":"y"},"a', "parts that secant does not write"),
        (b'}"},"a', b'}","secant":"y"},"a', "names something twice"),
    ],
)
def test_tables_of_arrays_that_make_no_sense(path, raw, old, new, words):
    text = header_text(raw)
    assert old in text
    path.write_bytes(with_header(raw, text.replace(old, new, 1)))
    with pytest.raises(REFUSED, match=words):
        secant.load(path)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{\\"a\\":' * 100_000])
def test_endless_nesting(path, raw, deep):
    text = header_text(raw).replace(b'\\"metadata\\":', b'\\"metadata\\":' + deep.encode(), 1)
    path.write_bytes(with_header(raw, text))
    with pytest.raises(REFUSED, match="nested too deeply"):
        secant.load(path)


def test_a_million_values(path, raw):
    many = b"[" + b"0," * 1_000_001
    text = header_text(raw).replace(b'\\"metadata\\":', b'\\"metadata\\":' + many, 1)
    path.write_bytes(with_header(raw, text))
    with pytest.raises(REFUSED, match="1000000 are the most"):
        secant.load(path)


def test_arrays_that_overlap(raw):
    text = header_text(raw)
    first = re.search(rb'"data_offsets":\[(\d+),(\d+)\]\},("[^"]+")', text)
    moved = text.replace(
        b'"data_offsets":[%s,%s]' % first.group(1, 2), b'"data_offsets":[8,%s]' % first[2]
    )
    assert moved != text
    broken = bytearray(with_header(raw, moved))
    start = container._START
    broken[start : start + 64] = container._digest(io.BytesIO(broken)).encode()
    with pytest.raises(REFUSED, match="its arrays are not as listed"):
        unpacked(broken)


def test_truth_values_other_than_0_and_1(raw):
    def spoil(_header, tensors):
        tensors["a99"] = np.array([3], dtype=np.uint8).view(bool)

    with pytest.raises(REFUSED, match="truth values other than 0 and 1"):
        unpacked(changed(raw, spoil))


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (
            FORMAT + 1,
            f"it is of format {FORMAT + 1}, written by secant '9.1'; this secant reads formats up "
            f"to {FORMAT}",
        ),
        (10**9, "it is of format 1000000000"),
        (0, "its format is 0, which is unknown"),
        ("1", "its format is '1', which is unknown"),
        (None, "its format is None"),
        (True, "its format is True"),
    ],
)
def test_formats_of_other_versions(path, raw, version, words):
    def change(header, _tensors):
        header["format"], header["versions"]["secant"] = version, "9.1"
        header["a new part"] = 1

    path.write_bytes(changed(raw, change))
    for door in (secant.load, read_metadata):
        with pytest.raises(REFUSED, match=words):
            door(path)


def test_words_of_a_file_are_shown_short_and_harmless(path, raw):
    def change(header, _tensors):
        header["format"], header["versions"]["secant"] = FORMAT + 1, "\x1b[2J" + "x" * 10_000

    path.write_bytes(changed(raw, change))
    with pytest.raises(REFUSED, match=r"'\\x1b\[2Jxxx") as found:
        secant.load(path)
    assert len(str(found.value)) < 500
