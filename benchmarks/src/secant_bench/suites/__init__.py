"""Suites: versioned lists of methods and tasks."""

from collections.abc import Callable

from secant_bench.suites import (
    ablation,
    baselines,
    core,
    foundation,
    frame,
    gaussian_mi,
    peers,
    shoot_out,
)
from secant_bench.suites.entries import Entry, Suite

__all__ = ["SUITES", "Entry", "Suite", "ablation", "frame", "gaussian_mi"]

SUITES: dict[str, Callable[[], Suite]] = {
    "core": core.suite,
    "foundation": foundation.suite,
    "baselines": baselines.suite,
    "shoot-out": shoot_out.suite,
    "peers-ratio": peers.suite,
}
