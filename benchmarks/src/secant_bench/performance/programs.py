"""The cost of compilation, without and with a compilation cache on disk."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from secant._host.jax_process import keep_programs
from secant.estimators import ISADRE, ClassifierRatio, RatioEstimator, SecantRatio
from secant.training import Training
from secant_bench.benchmark import Outcome
from secant_bench.performance.fresh_process import called_alone
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["ProgramRow", "ProgramSuite", "programs"]

_SHAPE = (2_000, 20)


@dataclass(frozen=True)
class ProgramRow(Run):
    """Seconds of a fit of one step in a new process: with an empty cache, then with a full one."""

    first: float | None = None
    second: float | None = None

    @property
    def numbers(self) -> str:
        """Both."""
        return f"first {aligned(self.first)} s, second {aligned(self.second)} s"


@dataclass(frozen=True)
class _ProgramTask:
    name: str
    estimator: type[RatioEstimator]


@dataclass(frozen=True)
class ProgramSuite(Product[_ProgramTask, None]):
    """A suite of estimators with one method, the cache."""

    def blank(self, job: Job) -> ProgramRow:
        """The row before the fits."""
        return ProgramRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Run two processes one after the other, with the same cache."""
        kind = self.task(job.task).estimator
        with tempfile.TemporaryDirectory() as folder:
            first, second = (called_alone(_seconds_to_start, kind, Path(folder)) for _ in range(2))
        row = replace(self.blank(job), first=first, second=second, status="finished")
        return Outcome([row])


def programs() -> ProgramSuite:
    """Three estimators with their default networks."""
    kinds = (SecantRatio, ISADRE, ClassifierRatio)
    tasks = tuple(_ProgramTask(kind.__name__, kind) for kind in kinds)
    about = "the start of a fit, with compiled programs on disk and without"
    return ProgramSuite("performance-programs", about, tasks, {"secant": None}, alone=True)


def _seconds_to_start(kind: type[RatioEstimator], folder: Path) -> float:
    keep_programs(folder)
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=_SHAPE), rng.normal(0.5, 1.0, _SHAPE)
    estimator = kind().set_params(training=Training(steps=1), random_state=0)
    began = time.perf_counter()
    estimator.fit_samples(x_0, x_1)
    return time.perf_counter() - began
