"""Files that are just files: a pipe or a device as a path would hang a reader, or be replaced."""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ["is_special"]


def is_special(path: Path) -> bool:
    """Whether there is something at the path, once links are followed, that is not a plain file.

    Raises:
        OSError: the path cannot be looked at, but for there being nothing.
    """
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
