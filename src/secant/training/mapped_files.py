"""Memory-mapped files that change while they are read."""

from __future__ import annotations

import mmap

import numpy as np

__all__ = ["check_whole"]


def check_whole(rows: np.ndarray) -> None:
    """Refuse a memory map whose file was cut short: to read on would end the process by SIGBUS.

    A file that was deleted, or replaced by another of its name, is there as long as it is mapped.

    Raises:
        OSError: rows are missing.
    """
    base: object = rows
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(rows, np.memmap) or not isinstance(base, mmap.mmap):
        return
    needed = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY + len(base)
    if base.size() < needed:
        raise OSError(
            f"{rows.filename} was cut to {base.size():,} bytes while it was read; its rows need "
            f"{needed:,}. Put the file back and begin again; a fit with checkpoints goes on."
        )
