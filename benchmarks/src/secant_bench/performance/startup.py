"""Start-up time of secant compared with the import of JAX, which every fit needs."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial

from secant_bench.benchmark import Outcome
from secant_bench.performance.timing import best_of_turns, seconds_of
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["StartupRow", "StartupSuite", "startup"]

_JAX = "import jax"


@dataclass(frozen=True)
class StartupRow(Run):
    """The wall-clock time of a process in seconds, the minimum of several.

    `yardstick` is the time of `import jax` alone, measured alternately; `share` is their ratio.
    """

    seconds: float | None = None
    yardstick: float | None = None
    share: float | None = None

    @property
    def numbers(self) -> str:
        """The times and their ratio."""
        return (
            f"{aligned(self.seconds)} s, import jax {aligned(self.yardstick)} s, "
            f"ratio {aligned(self.share)}"
        )


@dataclass(frozen=True)
class _Start:
    name: str
    code: str


@dataclass(frozen=True)
class StartupSuite(Product[_Start, None]):
    """Timed starts of a process."""

    def blank(self, job: Job) -> StartupRow:
        """The row before timing."""
        return StartupRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Time the process alternately with the import of JAX."""
        code = self.task(job.task).code
        times = best_of_turns({"own": partial(_seconds, code), "jax": partial(_seconds, _JAX)})
        own, jax = times["own"], times["jax"]
        row = replace(self.blank(job), seconds=own, yardstick=jax, share=own / jax)
        return Outcome([replace(row, status="finished")])


def startup() -> StartupSuite:
    """The import of the package beside JAX, and of an estimator; `command-line` times the help."""
    starts = (
        _Start("import jax, secant", "import jax, secant"),
        _Start("import an estimator", "import jax\nfrom secant import SecantRatio"),
    )
    about = "start-up time of a process, compared with the import of JAX"
    return StartupSuite("performance-startup", about, starts, {"secant": None}, 1, alone=True)


def _seconds(code: str) -> float:
    return seconds_of([sys.executable, "-c", code])
