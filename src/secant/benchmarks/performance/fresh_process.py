"""A function in a process of its own, with the most memory that it held."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from secant.benchmarks.benchmark import Skipped

__all__ = ["Measured", "measured_alone"]

_STATUS = Path("/proc/self/status")


class Measured(NamedTuple):
    """What the function says it took, and the growth of the process while it ran."""

    seconds: float
    mib: float


def measured_alone(run: Callable[..., float], *args: object) -> Measured:
    """Call it in a new process: neither memory nor compiled programs of an earlier run count.

    Raises:
        Skipped: the system does not tell how much memory a process has held.
    """
    if not _STATUS.exists():
        raise Skipped("peak memory is read from /proc, which this system does not have.")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(_measured, run, *args).result()


def _measured(run: Callable[..., float], *args: object) -> Measured:
    import jax

    jax.block_until_ready(jax.numpy.zeros(1))  # what an idle JAX holds is not the function's
    before = _peak_mib()
    return Measured(run(*args), _peak_mib() - before)


def _peak_mib() -> float:
    """VmHWM is of this program; `ru_maxrss` would also know what its parent held."""
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024.0
