"""A function in a process of its own, and the memory that it takes there."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from secant.benchmarks.benchmark import Skipped

__all__ = ["bytes_grown", "called_alone"]

_T = TypeVar("_T")
_PROCESS = Path("/proc/self")


def called_alone(run: Callable[..., _T], *args: object) -> _T:
    """Call it in a new process: neither memory nor compiled programs of an earlier run count."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(run, *args).result()


def bytes_grown(run: Callable[[], object]) -> int:
    """Bytes by which this process grew, at its highest, while the function ran.

    Raises:
        Skipped: the system does not tell.
    """
    mark = _PROCESS / "clear_refs"
    if not mark.exists():
        raise Skipped("peak memory is read from /proc, which this system does not have.")
    mark.write_text("5")  # the highest mark begins anew
    before = _bytes("VmRSS")
    run()
    return _bytes("VmHWM") - before


def _bytes(name: str) -> int:
    lines = (_PROCESS / "status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(name))
    return 1024 * int(line.split()[1])
