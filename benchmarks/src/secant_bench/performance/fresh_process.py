"""A function in a process of its own, and the memory that it takes there."""

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
    """Call it in a new process: neither memory nor compiled programs of an earlier run count."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(run, *args).result()


def bytes_grown(run: Callable[[], object]) -> int:
    """Bytes by which this process grew, at its highest, while the function ran.

    Its own memory: pages of mapped files, which the system takes back as it likes, do not count.

    Raises:
        Skipped: the system does not tell.
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
