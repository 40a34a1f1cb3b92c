"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from secant.plain_files import is_special

__all__ = ["cause_in_words", "replacing", "write_atomically"]

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


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its place when the block ends well.

    The new file is on disk before it is renamed, so that a crash at any moment leaves the old one
    or the new one. After an error or an interrupt nothing is left behind.

    Raises:
        OSError: whatever went wrong; an older file at the path is as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if is_special(target):  # renaming onto /dev/null would take it away from everybody
        raise OSError(errno.EINVAL, "it is a device or a pipe", str(target))
    part = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        yield part
        if target.exists():
            part.chmod(target.stat().st_mode & 0o777)
        _synced(part, os.O_RDWR)
        os.replace(part, target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    # The file is complete by now: a system that cannot force a folder has not failed us.
    with contextlib.suppress(OSError):
        _synced(target.parent, os.O_RDONLY)


def write_atomically(path: str | Path, data: bytes | bytearray) -> None:
    """Put data at a path, whole or not at all."""
    with replacing(path) as part:
        part.write_bytes(data)


def _synced(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
