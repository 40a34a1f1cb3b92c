"""What a file of NumPy arrays claims about itself, checked before memory is asked for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from secant.tables.errors import TableError, quoted, shown
from secant.tables.formats.base import check_columns, check_unpacked

__all__ = ["check_claims", "read_members"]

_LONGEST_HEADER = 10_000  # as NumPy has it, which asks for the memory before it looks
_AFTER_MAGIC = 8  # bytes: the magic word and the version


def check_claims(file: IO[bytes], size: int) -> None:
    """See that the array at the start of an open file has a type of values and fits in.

    Args:
        file: at its beginning.
        size: in bytes.

    Raises:
        TableError: If it holds Python objects, or the file has fewer bytes than the array.
        ValueError: If it is no array at all.
    """
    shape, dtype = _header(file)
    if dtype.hasobject:
        raise TableError(
            "It holds Python objects, which are not loaded because reading them can run code. "
            "Save an array of numbers or text: `np.save(path, array.astype(float))`."
        )
    needed = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or min(shape, default=0) < 0 or file.tell() + needed > size:
        raise TableError(
            f"It claims an array {shown(shape)} of {shown(dtype)} and has {size:,} bytes: it was "
            "cut short or damaged. Write it again."
        )


def read_members(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive, by name. Names are just names: nothing is unpacked to a folder.

    Raises:
        TableError: If it holds something else, or would take a great deal more memory than it
            has bytes.
    """
    with ZipFile(path) as archive:
        members = archive.infolist()
        check_columns(len(members))
        check_unpacked(path, sum(member.file_size for member in members))
        arrays = {
            member.filename.removesuffix(".npy"): _member(archive, member) for member in members
        }
    strangers = [name for name, array in arrays.items() if array is None]
    if strangers or not arrays:
        raise TableError(f"It holds no arrays, but {quoted(strangers) or 'nothing'}.")
    return {name: array for name, array in arrays.items() if array is not None}


def _member(archive: ZipFile, member: ZipInfo) -> NDArray[Any] | None:
    """An array, or nothing where it is none."""
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise TableError(f"{shown(member.filename)} is packed in a way that NumPy does not use.")
    with archive.open(member) as file:
        if file.read(6) != np.lib.format.MAGIC_PREFIX:
            return None
    with archive.open(member) as file:
        check_claims(file, member.file_size)
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    major, _ = np.lib.format.read_magic(file)
    length = int.from_bytes(file.read(2 if major == 1 else 4), "little")
    if length > _LONGEST_HEADER:
        raise TableError(f"Its header claims {length:,} bytes; {_LONGEST_HEADER:,} are the most.")
    file.seek(_AFTER_MAGIC)
    # Version 3 differs from 2 in the letters that names of fields may have, which no one asks here.
    read = (
        np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(file)
    return shape, dtype
