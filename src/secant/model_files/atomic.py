"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

__all__ = ["cause_in_words", "write_atomically"]

_CAUSES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your quota of the disk is used up",
    errno.EFBIG: "the file is larger than this system allows",
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.ENOENT: "the folder does not exist",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "its folder is a file",
}


def cause_in_words(error: OSError) -> str:
    """What an operating system's error means to somebody who wants to write a file."""
    return _CAUSES.get(error.errno or 0, error.strerror or str(error))


def write_atomically(path: Path, data: bytes | bytearray) -> None:
    """Put data at a path so that a crash at any moment leaves the old file or the new one.

    A file beside it is written and forced to the disk, then renamed over the old one; the folder is
    forced too, for the rename is an entry in it. If anything fails, nothing is left behind.

    Raises:
        OSError: whatever went wrong; an older file at the path is as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link, to the new file
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        _write_to_disk(beside, data, _mode(target))
        beside.replace(target)
    except BaseException:  # an interrupt, too, must not leave half a file
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    _force_folder(target.parent)


def _mode(target: Path) -> int | None:
    """The permissions of the file that is replaced; None leaves a new one to the umask."""
    return target.stat().st_mode & 0o777 if target.exists() else None


def _write_to_disk(path: Path, data: bytes | bytearray, mode: int | None) -> None:
    binary = getattr(os, "O_BINARY", 0)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, 0o666)
    with os.fdopen(number, "wb") as file:
        if mode is not None:
            path.chmod(mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _force_folder(folder: Path) -> None:
    # The file is complete by now: a system that cannot force a folder has not failed us.
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
