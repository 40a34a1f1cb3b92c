"""Run a function in a new process, and measure its memory."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TypeVar

from secant_bench.benchmark import Skipped

__all__ = ["bytes_grown", "called_alone"]

_T = TypeVar("_T")
_STATUS = Path("/proc/self/status")
_SECONDS_BETWEEN_LOOKS = 0.002


def called_alone(run: Callable[..., _T], *args: object) -> _T:
    """Call a function in a new process, without memory or compiled programs of earlier runs."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(run, *args).result()


def bytes_grown(run: Callable[[], object]) -> int:
    """Peak growth of this process's memory while the function runs, in bytes.

    Pages of mapped files, which the system can reclaim, are not counted.

    Raises:
        Skipped: the system does not provide the number.
    """
    if not _STATUS.exists():
        raise Skipped("memory is read from /proc, which this system does not have.")
    before = _own_bytes()
    highest, done = [before], Event()

    def watch() -> None:
        while not done.wait(_SECONDS_BETWEEN_LOOKS):
            highest.append(max(highest.pop(), _own_bytes()))

    with ThreadPoolExecutor(max_workers=1) as watcher:
        watching = watcher.submit(watch)
        try:
            run()
        finally:
            done.set()
        watching.result()
    return highest[0] - before


def _own_bytes() -> int:
    lines = _STATUS.read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("RssAnon"))
    return 1024 * int(line.split()[1])
