"""Start-up: what secant adds to the import of JAX, which every fit needs."""

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
    """A process from start to end, in seconds of the wall clock: the best of several.

    `yardstick` is what `import jax` alone takes, in turn with it; `share` is their ratio.
    """

    seconds: float | None = None
    yardstick: float | None = None
    share: float | None = None

    @property
    def numbers(self) -> str:
        """Seconds, and what they are compared with."""
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
    """Starts of a process, timed."""

    def blank(self, job: Job) -> StartupRow:
        """The row before anything is timed."""
        return StartupRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """In turn with the import of JAX."""
        code = self.task(job.task).code
        times = best_of_turns({"own": partial(_seconds, code), "jax": partial(_seconds, _JAX)})
        own, jax = times["own"], times["jax"]
        row = replace(self.blank(job), seconds=own, yardstick=jax, share=own / jax)
        return Outcome([replace(row, status="finished")])


def startup() -> StartupSuite:
    """The package beside JAX, and an estimator of it; `command-line` has the help."""
    starts = (
        _Start("import jax, secant", "import jax, secant"),
        _Start("import an estimator", "import jax\nfrom secant import SecantRatio"),
    )
    about = "what a process takes to start, against the import of JAX"
    return StartupSuite("performance-startup", about, starts, {"secant": None}, 1, alone=True)


def _seconds(code: str) -> float:
    return seconds_of([sys.executable, "-c", code])
