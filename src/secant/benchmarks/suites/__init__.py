"""Suites: versioned lists of what is run on what."""

from collections.abc import Callable

from secant.benchmarks.suites import baselines, core, curriculum, shoot_out
from secant.benchmarks.suites.entries import Entry, Suite

__all__ = ["SUITES", "Entry", "Suite"]

SUITES: dict[str, Callable[[], Suite]] = {
    "baselines": baselines.suite,
    "core": core.suite,
    "curriculum": curriculum.suite,
    "shoot-out": shoot_out.suite,
}
