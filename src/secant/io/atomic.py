"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its place when the block ends well.

    The new file is on disk before it is renamed, so that a power cut leaves the old one or the new
    one. After an error nothing is left behind.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    part = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        yield part
        _synced(part, os.O_RDWR)
        os.replace(part, target)
        _synced(target.parent, os.O_RDONLY)
    finally:
        part.unlink(missing_ok=True)


def _synced(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
