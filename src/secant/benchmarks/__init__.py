"""Benchmarks: tasks that carry their truth, suites of them, flat result rows, generated tables."""

from secant.benchmarks.benchmark import Benchmark, Outcome, Selection, Skipped
from secant.benchmarks.budgets import Budget
from secant.benchmarks.catalogue import Recipe
from secant.benchmarks.density import DensitySuite
from secant.benchmarks.information import InformationSuite
from secant.benchmarks.rows import Job, Row, Run, read_rows
from secant.benchmarks.schedulers import DaskCluster, InProcess
from secant.benchmarks.suites import SUITES, Entry, Suite
from secant.benchmarks.sweeps import Again, Sweep
from secant.benchmarks.tasks import Task

__all__ = [
    "SUITES",
    "Again",
    "Benchmark",
    "Budget",
    "DaskCluster",
    "DensitySuite",
    "Entry",
    "InProcess",
    "InformationSuite",
    "Job",
    "Outcome",
    "Recipe",
    "Row",
    "Run",
    "Selection",
    "Skipped",
    "Suite",
    "Sweep",
    "Task",
    "read_rows",
]
