"""Runs a suite: resumes where it stopped, and turns a failed fit into a row of its own."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import jax

from secant.benchmarks.rows import Row, append_row, machine, read_rows
from secant.benchmarks.suites import Entry, Suite
from secant.diagnostics import Diagnostics
from secant.exceptions import OverlapWarning

__all__ = ["run_entry", "run_suite"]


def run_suite(
    suite: Suite, results: Path, *, n_seeds: int = 3, part: tuple[int, int] = (0, 1)
) -> Iterator[Row]:
    """Run what is not in the results file yet, appending and yielding rows.

    Args:
        suite: what to run.
        results: a JSON-lines file.
        n_seeds: fits of each entry.
        part: (i, n) runs every n-th fit from the i-th on, so that n processes share a suite.
    """
    jobs = [(entry, seed) for seed in range(n_seeds) for entry in suite.entries]
    for entry, seed in jobs[part[0] :: part[1]]:
        done = {row.key for row in read_rows(results)}
        if (entry.task.name, entry.method, seed) in done:
            continue
        for row in run_entry(suite.name, entry, seed):
            append_row(results, row)
            yield row
        # Each program holds memory maps, of which Linux gives a process 65,530: a long sweep that
        # kept them all ended in "LLVM compilation error: Cannot allocate memory".
        jax.clear_caches()


def run_entry(suite: str, entry: Entry, seed: int) -> list[Row]:
    """Fit once, judge by every rule; one row a rule, or one row with the traceback."""
    row = Row(
        suite,
        entry.task.name,
        entry.method,
        seed,
        evaluations=0,
        n_rows=entry.task.n_rows,
        machine=machine(),
    )
    try:
        return _fitted_rows(row, entry)
    except Exception:  # a failure is a result: it belongs into the table, not on the floor
        return [replace(row, status="failed", traceback=traceback.format_exc())]


def _fitted_rows(row: Row, entry: Entry) -> list[Row]:
    estimator = entry.make(row.seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)  # chasms are what these tasks are about
        entry.task.fit(estimator, row.seed)
    found = estimator.diagnostics_
    trained = isinstance(found, Diagnostics)
    row = replace(
        row,
        seconds=time.perf_counter() - began,
        held_out=found.held_out_loss,
        steps=found.steps if trained else None,
        status=found.status.name.lower() if trained else "finished",
        config=" ".join(repr(estimator).split()),
    )
    judged = (entry.task.judge(estimator, rule, row.seed) for rule in entry.rules)
    return [replace(row, **asdict(judgement)) for judgement in judged]
