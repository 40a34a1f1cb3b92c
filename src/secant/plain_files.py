"""Detect pipes and devices, which would block a reader or be replaced by a writer."""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ["is_special"]


def is_special(path: Path) -> bool:
    """Whether the path, after following links, is something other than a regular file.

    Raises:
        OSError: the path cannot be inspected, for another reason than that it does not exist.
    """
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
