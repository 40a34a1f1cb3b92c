"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = [
    "cause_in_words",
    "check_writable",
    "is_special",
    "one_at_a_time",
    "replacing",
    "write_atomically",
]

_SUFFIX = ".part"
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
    errno.EEXIST: "it is a file, not a folder",
}


def cause_in_words(error: OSError) -> str:
    """What an operating system's error means to somebody who wants to write a file."""
    return _CAUSES.get(error.errno or 0, error.strerror or str(error))


def is_special(path: Path) -> bool:
    """Whether something other than a plain file is at the path, once links are followed.

    A reader would wait for a pipe or a device for ever, and a writer would replace it.

    Raises:
        OSError: the path cannot be looked at, but for there being nothing.
    """
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its place when the block ends well.

    The new file is on disk before it is renamed, so that a crash at any moment leaves the old one
    or the new one. After an error or an interrupt nothing is left behind; what a killed process
    left, the next to write the same file takes away.

    Raises:
        OSError: whatever went wrong; an older file at the path is as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if is_special(target):  # renaming onto /dev/null would take it away from everybody
        raise OSError(errno.EINVAL, "it is a device or a pipe", str(target))
    _remove_leftovers(target)
    with _new_part(target) as part:
        yield part
        if target.exists():
            part.chmod(target.stat().st_mode & 0o777)
        _synced(part, os.O_RDWR)
        os.replace(part, target)
    # The file is complete by now: a system that cannot force a folder has not failed us.
    with contextlib.suppress(OSError):
        _synced(target.parent, os.O_RDONLY)


def write_atomically(path: str | Path, data: bytes | bytearray) -> None:
    """Put data at a path, whole or not at all."""
    with replacing(path) as part:
        part.write_bytes(data)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Within it, no other process that asks is between reading a file and replacing it.

    By a lock on a file beside it, which stays. Windows has no such locks: there, let one process
    write.
    """
    with path.with_name(f".{path.name}.lock").open("a") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_writable(folder: str | Path) -> None:
    """Make a file in a folder and take it away again.

    Raises:
        OSError: why none can be made.
    """
    with _new_part(Path(folder) / "trial"):
        pass


@contextmanager
def _new_part(target: Path) -> Iterator[Path]:
    """A new empty file beside a target, locked while it is in use, and gone afterwards."""
    part, lock = _claimed(target)
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def _claimed(target: Path) -> tuple[Path, int | None]:
    """A new file and the descriptor that locks it, None on a system without such locks."""
    while True:
        part = target.with_name(f"{_prefix(target)}{secrets.token_hex(6)}{_SUFFIX}")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if sys.platform == "win32":
            os.close(descriptor)
            return part, None
        # Another process may take it for a leftover before it is locked.
        if _is_locked(descriptor) and part.exists():
            return part, descriptor
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Lock a file, unless somebody else has it; a file system without locks is no hindrance."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def _remove_leftovers(target: Path) -> None:
    """Take away parts of this target whose writers are gone: the lock of a dead process is free."""
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(_prefix(target)) and name.endswith(_SUFFIX):
                _remove_if_free(target.with_name(name))


def _remove_if_free(part: Path) -> None:
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), part.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
        part.unlink()


def _prefix(target: Path) -> str:
    return f".{target.name[:80]}."


def _synced(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
