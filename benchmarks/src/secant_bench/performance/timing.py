"""Timing of several sides alternately, so that a disturbance does not affect one side only."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

import jax

__all__ = ["best_of_turns", "seconds_each", "seconds_of"]

_TURNS = 5


def best_of_turns(sides: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The minimum time of each side, measured alternately."""
    turns = [{name: side() for name, side in sides.items()} for _ in range(_TURNS)]
    return {name: min(turn[name] for turn in turns) for name in sides}


def seconds_each(run: Callable[[], object], n: int) -> float:
    """Wall-clock seconds per round of `run`, which makes n rounds."""
    began = time.perf_counter()
    jax.block_until_ready(run())
    return (time.perf_counter() - began) / n


def seconds_of(command: Sequence[str]) -> float:
    """Wall-clock seconds of a process."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began
