"""Speed: of a step, of a start, to an accuracy, and how cost grows."""

from __future__ import annotations

from collections.abc import Callable

from secant.benchmarks.benchmark import Benchmark
from secant.benchmarks.performance.engine import engine
from secant.benchmarks.performance.growth import growth
from secant.benchmarks.performance.parts import parts
from secant.benchmarks.performance.programs import programs
from secant.benchmarks.performance.races import races
from secant.benchmarks.performance.scoring import scoring
from secant.benchmarks.performance.startup import startup
from secant.benchmarks.performance.steps import steps

__all__ = ["PERFORMANCE_SUITES"]

PERFORMANCE_SUITES: dict[str, Callable[[], Benchmark]] = {
    "performance-step": steps,
    "performance-programs": programs,
    "performance-engine": engine,
    "performance-startup": startup,
    "performance-scoring": scoring,
    "performance-growth": growth,
    "performance-accuracy": races,
    "performance-parts": parts,
}
