"""Runs a suite of mutual information; resumes where it stopped."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import jax

from secant.benchmarks.information.methods import METHODS
from secant.benchmarks.information.rows import InformationRow
from secant.benchmarks.information.suites import InformationSuite, drawn
from secant.benchmarks.rows import append_row, machine, read_rows
from secant.datasets import DependentPair
from secant.exceptions import OverlapWarning

__all__ = ["run_information"]

_RUNS_BETWEEN_CLEARING = 50  # compiled programs are shared by runs of one size, and hold memory


def run_information(
    suite: InformationSuite,
    results: Path,
    *,
    n_seeds: int | None = None,
    part: tuple[int, int] = (0, 1),
    match: str = "",
) -> Iterator[InformationRow]:
    """Run what is not in the results file yet, appending and yielding rows.

    Args:
        suite: what to run.
        results: a JSON-lines file.
        n_seeds: None is the suite's own number.
        part: (i, n) runs every n-th job from the i-th on, so that n processes share a suite.
        match: only jobs whose task or method contains this.
    """
    seeds = range(suite.n_seeds if n_seeds is None else n_seeds)
    jobs = [
        (task, method, seed)
        for seed, task, method in product(seeds, suite.tasks, suite.methods)
        if match in f"{task.name} | {method}"
    ]
    for count, (task, method, seed) in enumerate(jobs[part[0] :: part[1]]):
        done = {row.key for row in read_rows(results, InformationRow)}
        if (task.name, method, seed) in done:
            continue
        row = _run(suite, task, method, seed)
        append_row(results, row)
        yield row
        if count % _RUNS_BETWEEN_CLEARING == _RUNS_BETWEEN_CLEARING - 1:
            jax.clear_caches()


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
