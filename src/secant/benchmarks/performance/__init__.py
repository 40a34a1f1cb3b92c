"""Speed where users wait: scoring, and the start of a process."""

from secant.benchmarks.performance.scoring import scoring
from secant.benchmarks.performance.startup import startup

__all__ = ["scoring", "startup"]
