"""Runs of a method on a task of mutual information."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import jax
import numpy as np

from secant.datasets import DependentPair
from secant.exceptions import OverlapWarning
from secant_bench.benchmark import Outcome
from secant_bench.information.methods import Answer, Array, Method
from secant_bench.information.rows import InformationRow
from secant_bench.products import Product
from secant_bench.rows import Job, machine

__all__ = ["InformationSuite", "drawn"]


@dataclass(frozen=True)
class InformationSuite(Product[DependentPair, Method]):
    """Tasks × methods × seeds at one number of rows.

    Attributes:
        n_rows: number of rows of each data set.
    """

    n_rows: int = field(kw_only=True)

    def blank(self, job: Job) -> InformationRow:
        """The row with the truth."""
        truth = self.task(job.task).mutual_information
        return InformationRow(self.name, *job, self.n_rows, truth, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Draw a data set and estimate its mutual information."""
        x, y = drawn(self.task(job.task), self.n_rows, job.seed)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # some tasks have no overlap
            answer = self.methods[job.method](x, y, job.seed)
        seconds = time.perf_counter() - began
        row = replace(self.blank(job), **asdict(answer), seconds=seconds, status="finished")
        return Outcome([row])

    def _adapted(self, method: Any) -> Method:  # noqa: ANN401 -- a third party's
        """A class with `estimate(x, y)`, of which each run creates a new instance."""

        def estimated(x: Array, y: Array, seed: int) -> Answer:
            del seed
            return Answer(float(method().estimate(x, y)))

        return estimated


def drawn(task: DependentPair, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The data set of a task for one seed."""
    x, y = task.sample(jax.random.key(5_000_000 + seed), n)
    return np.asarray(x), np.asarray(y)
