"""The bytes of a `.secant` file: safetensors whose metadata is one JSON header with a checksum.

The checksum is the SHA-256 of the file with 64 zeros in place of the checksum. Its position is the
same in every file, directly after the magic string.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from secant._host.atomic_files import is_special
from secant.model_files.errors import ModelFileError, escaped
from secant.model_files.strict_json import parsed_json, written

Tensors = dict[str, np.ndarray]

DTYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"{kind}{bits}": np.dtype(f"{kind.lower()}{bits // 8}") for kind, bits in (
        ("I", 8), ("I", 16), ("I", 32), ("I", 64), ("U", 8), ("U", 16), ("U", 32), ("U", 64),
        ("F", 16), ("F", 32), ("F", 64),
    )},
}  # fmt: skip

_MARK = b'{"__metadata__":{"secant":"{\\"sha256\\":\\"'
_START = 8 + len(_MARK)
_BLANK = b"0" * 64
_LONGEST_HEADER = 32 << 20
_LONGEST_FILE = 4 << 30
_MOST_AXES = 16
_LONGEST_AXIS = 1 << 31
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Contents:
    """Contents of a file: the JSON header and arrays by name."""

    header: dict[str, Any]
    tensors: Tensors


def packed(contents: Contents) -> bytearray:
    """The bytes of a file, with its checksum."""
    header = {"sha256": _BLANK.decode(), **contents.header}
    raw = bytearray(save_tensors(contents.tensors, {"secant": written(header)}))
    assert raw[8:_START] == _MARK  # safetensors puts the metadata first
    seal(raw)
    return raw


def seal(raw: bytearray) -> None:
    """Insert the checksum, if the bytes are long enough."""
    if len(raw) >= _START + 64:
        raw[_START : _START + 64] = _digest(io.BytesIO(raw)).encode()


def unpacked(raw: bytes | bytearray) -> Contents:
    """Contents of these bytes; `ModelFileError` if they are not a complete model file."""
    file = io.BytesIO(raw)
    header, table = _checked_head(file, len(raw))
    _check_digest(file)
    try:
        tensors = load_tensors(bytes(raw))
    except (SafetensorError, ValueError) as error:
        raise ModelFileError(f"its arrays are not as listed: {escaped(str(error))}.") from None
    for name, tensor in tensors.items():
        if table[name] == "BOOL" and tensor.size and tensor.view(np.uint8).max() > 1:
            raise ModelFileError(f"array {escaped(name)} holds truth values other than 0 and 1.")
    return Contents(header, tensors)


def read(path: Path) -> Contents:
    """Contents of a file."""
    with _opened(path) as (file, size):
        _checked_head(file, size)  # before memory is allocated
        file.seek(0)
        return unpacked(file.read(size))


def read_header(path: Path) -> dict[str, Any]:
    """The header of a file with a valid checksum, without loading its arrays."""
    with _opened(path) as (file, size):
        header, _ = _checked_head(file, size)
        _check_digest(file)
        return header


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    try:
        if is_special(path):
            raise ModelFileError("it is not a plain file.")
        with path.open("rb") as file:
            yield file, path.stat().st_size
    except FileNotFoundError:
        raise ModelFileError("there is no such file.") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be read: {error.strerror or error}.") from error


def _checked_head(file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The header and the types of the arrays, checked against the size of the file."""
    start = file.read(_START)
    _check_start(start, size)
    length = int.from_bytes(start[:8], "little")
    file.seek(8)
    outer = parsed_json(file.read(length))
    metadata = outer.pop("__metadata__")
    if set(metadata) != {"secant"} or not isinstance(metadata["secant"], str):
        raise ModelFileError("its header has parts that secant does not write.")
    ends = [_checked_entry(name, entry) for name, entry in outer.items()]
    expected = 8 + length + max(ends, default=0)
    if expected != size:
        raise ModelFileError(
            f"it should have {expected} bytes and has {size}: {_cut(expected, size)}"
        )
    header = parsed_json(metadata["secant"])
    del header["sha256"]
    return header, {name: entry["dtype"] for name, entry in outer.items()}


def _check_start(start: bytes, size: int) -> None:
    if not start:
        raise ModelFileError("it is empty.")
    if not _MARK.startswith(start[8:]) or size < 8:
        kind = "safetensors, but not" if start[8:9] == b"{" else "not"
        raise ModelFileError(
            f"it is {kind} a model that secant has saved; it starts with {escaped(start[:16])}."
        )
    length = int.from_bytes(start[:8], "little")
    if length > _LONGEST_HEADER:
        raise ModelFileError(f"its header claims {length} bytes; {_LONGEST_HEADER} are the most.")
    if length > size - 8:
        raise ModelFileError(
            f"its header claims {length} bytes and the file has {size}: {_cut(length, size)}"
        )
    if length < len(_MARK):
        raise ModelFileError(f"its header claims {length} bytes, too few for one.")
    if size > _LONGEST_FILE:
        raise ModelFileError(f"it has {size} bytes; {_LONGEST_FILE} are the most.")


def _cut(expected: int, size: int) -> str:
    if expected < size:
        return "something was added to it."
    return "it was cut short. Copy or download it again."


def _checked_entry(name: str, entry: Any) -> int:  # noqa: ANN401
    """The end of an array, if its entry is valid."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"the entry of array {escaped(name)} is damaged.")
    if entry["dtype"] not in list(DTYPES):  # a list: the value may not be hashable
        raise ModelFileError(f"array {escaped(name)} is of type {escaped(entry['dtype'])}.")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not (_are_counts(shape, _LONGEST_AXIS) and len(shape) <= _MOST_AXES):
        raise ModelFileError(f"array {escaped(name)} has shape {escaped(shape)}.")
    if not (_are_counts(offsets, _LONGEST_FILE) and len(offsets) == 2):
        raise ModelFileError(f"array {escaped(name)} lies at {escaped(offsets)}.")
    return int(offsets[1])


def _are_counts(values: Any, most: int) -> bool:  # noqa: ANN401
    return isinstance(values, list) and all(type(v) is int and 0 <= v <= most for v in values)


def _check_digest(file: BinaryIO) -> None:
    file.seek(_START)
    if file.read(64) != _digest(file).encode():
        raise ModelFileError(
            "its checksum is wrong: it was changed or damaged since it was saved. Copy or download "
            "it again, or save the estimator again."
        )


def _digest(file: BinaryIO) -> str:
    """SHA-256 of a file with zeros in place of its checksum, read in blocks."""
    file.seek(0)
    found = hashlib.sha256(file.read(_START) + _BLANK)
    file.seek(_START + 64)
    while block := file.read(_AT_ONCE):
        found.update(block)
    return found.hexdigest()
