"""Benchmarks: tasks that carry their truth, suites of them, flat result rows, generated tables."""

from secant.benchmarks.rows import Row, read_rows
from secant.benchmarks.runner import run_suite
from secant.benchmarks.suites import SUITES, Entry, Suite
from secant.benchmarks.tasks import Task

__all__ = ["SUITES", "Entry", "Row", "Suite", "Task", "read_rows", "run_suite"]
