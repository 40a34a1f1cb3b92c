"""How times are taken: side by side, so that a disturbance does not fall on one side only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import jax

__all__ = ["best_of_turns", "seconds_each"]

_TURNS = 5


def best_of_turns(sides: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The least time of each side, all measured in turn."""
    turns = [{name: side() for name, side in sides.items()} for _ in range(_TURNS)]
    return {name: min(turn[name] for turn in turns) for name in sides}


def seconds_each(run: Callable[[], object], n: int) -> float:
    """Of the wall clock, for one of the n rounds that `run` makes."""
    began = time.perf_counter()
    jax.block_until_ready(run())
    return (time.perf_counter() - began) / n
