"""Runs of a method on a density task."""

from __future__ import annotations

import resource
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from secant.exceptions import AtomsWarning, NormaliserWarning, OverlapWarning
from secant_bench.benchmark import Outcome, Skipped
from secant_bench.density.methods import Judge, Judged, Method, Rows
from secant_bench.density.pictures import picture_name
from secant_bench.density.rows import DensityRow
from secant_bench.density.tasks import DensityTask, Split
from secant_bench.products import Product
from secant_bench.rows import Job, machine

__all__ = ["DensitySuite"]

_LEAST_SHOWN = -100.0  # nats, the lowest log density in a picture


@dataclass(frozen=True)
class DensitySuite(Product[DensityTask, Method]):
    """Densities × methods × seeds, evaluated on test rows."""

    def blank(self, job: Job) -> DensityRow:
        """The row before the data are read."""
        return DensityRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Fit and evaluate; for the first seed also store a picture."""
        task = self.task(job.task)
        try:
            split = task.split(job.seed)
        except FileNotFoundError as missing:
            raise Skipped(str(missing)) from missing
        with warnings.catch_warnings():
            for expected in (OverlapWarning, NormaliserWarning, AtomsWarning):
                warnings.simplefilter("ignore", expected)  # the row records the reasons
            began = time.perf_counter()
            judge = self.methods[job.method](split.train, job.seed)
            row = replace(self.blank(job), seconds=time.perf_counter() - began, status="finished")
            rows = _judged(row, judge, split)
            drawn = task.grid is not None and job.seed == 0
            name = picture_name(job.task, job.method)
            pictures = {name: _picture(judge, task.grid())} if drawn and task.grid else {}
        return Outcome(rows, pictures)

    def _adapted(self, method: Any) -> Method:  # noqa: ANN401 -- a third party's
        """A class with `fit(X)` and `score_samples(X)`, as scikit-learn's `KernelDensity` has."""

        def fitted(train: Rows, seed: int) -> Judge:
            del seed
            density = method().fit(train)
            return lambda test: [Judged(np.asarray(density.score_samples(test)))]

        return fitted


def _judged(row: DensityRow, judge: Judge, split: Split) -> list[DensityRow]:
    answers = judge(split.test)
    spread = [None] * len(answers) if split.spread is None else judge(split.spread)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    row = replace(row, n_rows=split.train.shape[0], truth=split.truth, peak_mib=peak)
    return [_row(row, *both) for both in zip(answers, spread, strict=True)]


def _picture(judge: Judge, grid: Rows) -> np.ndarray:
    """Log densities on a grid, in half precision, which is enough for a picture."""
    return np.maximum(judge(grid)[0].log_density, _LEAST_SHOWN).astype(np.float16)


def _row(row: DensityRow, answer: Judged, spread: Judged | None) -> DensityRow:
    scores = answer.log_density
    return replace(
        row,
        nll=-float(scores.mean()),
        nll_spread=None if spread is None else -float(spread.log_density.mean()),
        nll_error=float(scores.std() / np.sqrt(scores.size)),
        log_normalizer=answer.log_normalizer,
        log_normalizer_error=answer.log_normalizer_error,
        normalised_by=answer.normalised_by,
        evaluations=answer.evaluations,
    )
