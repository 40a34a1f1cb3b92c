"""Benchmarks of speed: training steps, start-up, time to accuracy, and growth of cost."""

from __future__ import annotations

from collections.abc import Callable

from secant_bench.benchmark import Benchmark
from secant_bench.performance.engine import engine
from secant_bench.performance.growth import growth
from secant_bench.performance.parts import parts
from secant_bench.performance.programs import programs
from secant_bench.performance.races import races
from secant_bench.performance.scoring import scoring
from secant_bench.performance.startup import startup
from secant_bench.performance.steps import steps

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
