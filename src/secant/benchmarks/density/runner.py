"""Runs a suite of densities; resumes where it stopped."""

from __future__ import annotations

import resource
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from secant.benchmarks.density.methods import METHODS, Judge, Judged, Rows
from secant.benchmarks.density.pictures import picture_path
from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.density.suites import DensitySuite
from secant.benchmarks.density.tasks import DensityTask
from secant.benchmarks.products import Selection, run_product
from secant.benchmarks.rows import machine
from secant.exceptions import AtomsWarning, NormaliserWarning, OverlapWarning

__all__ = ["run_density"]

_LEAST_SHOWN = -100.0  # nats, as dark as can be


def run_density(
    suite: DensitySuite, results: Path, selection: Selection | None = None
) -> Iterator[DensityRow]:
    """Run what is not in the results file yet, appending and yielding rows."""
    return run_product(
        suite,
        results,
        DensityRow,
        lambda task, method, seed: _run(
            DensityRow(suite.name, task.name, method, seed, machine=machine()),
            task,
            results.with_suffix(""),
        ),
        selection or Selection(),
        runs_between_clearing=1,
    )


def _run(row: DensityRow, task: DensityTask, pictures: Path) -> list[DensityRow]:
    try:
        return _judged(row, task, pictures)
    except FileNotFoundError as missing:
        return [replace(row, status=f"skipped: {missing}")]
    except Exception:  # a failure is a result too
        return [replace(row, status="failed", traceback=traceback.format_exc())]


def _judged(row: DensityRow, task: DensityTask, pictures: Path) -> list[DensityRow]:
    split = task.split(row.seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        for expected in (OverlapWarning, NormaliserWarning, AtomsWarning):
            warnings.simplefilter("ignore", expected)  # what they say stands in the row
        judge = METHODS[row.method](split.train, row.seed)
        seconds = time.perf_counter() - began
        answers = judge(split.test)
        spread = [None] * len(answers) if split.spread is None else judge(split.spread)
        if task.grid is not None and row.seed == 0:
            _keep_picture(judge, task.grid(), picture_path(pictures, task.name, row.method))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    row = replace(
        row,
        n_rows=split.train.shape[0],
        truth=split.truth,
        seconds=seconds,
        peak_mib=peak,
        status="finished",
    )
    return [_row(row, *both) for both in zip(answers, spread, strict=True)]


def _keep_picture(judge: Judge, grid: Rows, path: Path) -> None:
    """Log densities on a grid; half precision is enough for the eye."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = np.maximum(judge(grid)[0].log_density, _LEAST_SHOWN)
    np.save(path, kept.astype(np.float16))


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
