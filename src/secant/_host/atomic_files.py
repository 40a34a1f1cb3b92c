"""Atomic file writes."""

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
    """An explanation of an operating system's error on writing a file."""
    return _CAUSES.get(error.errno or 0, error.strerror or str(error))


def is_special(path: Path) -> bool:
    """Whether the path, with links followed, is something other than a plain file.

    Reading a pipe or a device may block forever, and writing would replace it.

    Raises:
        OSError: the path exists but cannot be inspected.
    """
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path that replaces `path` when the block succeeds.

    The new file is synced to disk before it is renamed, so that a crash at any moment leaves the
    old file or the new one. After an error or an interrupt the temporary file is deleted; that of a
    killed process is deleted by the next write of the same file.

    Raises:
        OSError: the write failed; an older file at the path is unchanged.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays; its target is replaced
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if is_special(target):  # renaming onto /dev/null would delete the device
        raise OSError(errno.EINVAL, "it is a device or a pipe", str(target))
    _remove_leftovers(target)
    with _new_part(target) as part:
        yield part
        if target.exists():
            part.chmod(target.stat().st_mode & 0o777)
        _synced(part, os.O_RDWR)
        os.replace(part, target)
    # The file is complete; some systems cannot sync a folder.
    with contextlib.suppress(OSError):
        _synced(target.parent, os.O_RDONLY)


def write_atomically(path: str | Path, data: bytes | bytearray) -> None:
    """Write data to a path atomically."""
    with replacing(path) as part:
        part.write_bytes(data)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Lock a file between reading and replacing it, among processes that use this lock.

    The lock is a separate file, which is not deleted. Windows has no such locks: there, only one
    process may write.
    """
    with path.with_name(f".{path.name}.lock").open("a") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_writable(folder: str | Path) -> None:
    """Check that files can be created in a folder.

    Raises:
        OSError: they cannot.
    """
    with _new_part(Path(folder) / "trial"):
        pass


@contextmanager
def _new_part(target: Path) -> Iterator[Path]:
    """A new empty file beside a target, locked while in use and deleted afterwards."""
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
        # Another process may delete it as a leftover before it is locked.
        if _is_locked(descriptor) and part.exists():
            return part, descriptor
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Try to lock a file; succeed on a file system without locks."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def _remove_leftovers(target: Path) -> None:
    """Delete temporary files of dead writers, whose locks are free."""
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(_prefix(target)) and name.endswith(_SUFFIX):
                _remove_if_free(target.with_name(name))


def _remove_if_free(part: Path) -> None:
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), part.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer is alive
        part.unlink()


def _prefix(target: Path) -> str:
    return f".{target.name[:80]}."


def _synced(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
