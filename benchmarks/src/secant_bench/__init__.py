"""Benchmarks: tasks with known truth, suites of tasks, flat result rows, generated tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Names are imported on first use, so that `secant --help` does not wait for JAX.
# Type checkers read the imports, Python reads the table; a test checks that they agree.
if TYPE_CHECKING:
    from secant_bench.benchmark import Benchmark, Outcome, Selection, Skipped
    from secant_bench.budgets import Budget
    from secant_bench.catalogue import Recipe
    from secant_bench.density import DensitySuite
    from secant_bench.information import InformationSuite
    from secant_bench.rows import Job, Row, Run, read_rows
    from secant_bench.schedulers import DaskCluster, InProcess
    from secant_bench.suites import SUITES, Entry, Suite
    from secant_bench.sweeps import Again, Sweep
    from secant_bench.tasks import Task

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

_HOMES = {
    "secant_bench.benchmark": (
        "Benchmark",
        "Outcome",
        "Selection",
        "Skipped",
    ),
    "secant_bench.budgets": ("Budget",),
    "secant_bench.catalogue": ("Recipe",),
    "secant_bench.density": ("DensitySuite",),
    "secant_bench.information": ("InformationSuite",),
    "secant_bench.rows": (
        "Job",
        "Row",
        "Run",
        "read_rows",
    ),
    "secant_bench.schedulers": (
        "DaskCluster",
        "InProcess",
    ),
    "secant_bench.suites": (
        "SUITES",
        "Entry",
        "Suite",
    ),
    "secant_bench.sweeps": (
        "Again",
        "Sweep",
    ),
    "secant_bench.tasks": ("Task",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # type checkers should report names not imported above

    def __getattr__(name: str) -> object:
        """Import a public name on first use, and keep it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
