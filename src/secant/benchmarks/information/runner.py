"""Runs a suite of mutual information; resumes where it stopped."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from secant.benchmarks.information.methods import METHODS
from secant.benchmarks.information.rows import InformationRow
from secant.benchmarks.information.suites import InformationSuite, drawn
from secant.benchmarks.products import Selection, run_product
from secant.benchmarks.rows import machine
from secant.datasets import DependentPair
from secant.exceptions import OverlapWarning

__all__ = ["run_information"]

_RUNS_BETWEEN_CLEARING = 50


def run_information(
    suite: InformationSuite, results: Path, selection: Selection | None = None
) -> Iterator[InformationRow]:
    """Run what is not in the results file yet, appending and yielding rows."""
    return run_product(
        suite,
        results,
        InformationRow,
        lambda task, method, seed: [_run(suite, task, method, seed)],
        selection or Selection(),
        runs_between_clearing=_RUNS_BETWEEN_CLEARING,
    )


def _run(suite: InformationSuite, task: DependentPair, method: str, seed: int) -> InformationRow:
    row = InformationRow(
        suite.name,
        task.name,
        method,
        seed,
        suite.n_rows,
        task.mutual_information,
        machine=machine(),
    )
    try:
        x, y = drawn(task, suite.n_rows, seed)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # chasms are among the tasks
            answer = METHODS[method](x, y, seed)
        seconds = time.perf_counter() - began
        return replace(row, **asdict(answer), seconds=seconds, status="finished")
    except Exception:  # a failure is a result too
        return replace(row, status="failed", traceback=traceback.format_exc())
