"""The interface of a benchmark: a named list of entries, and how one of them is run."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from secant_bench.rows import Job, Run

__all__ = ["Benchmark", "Outcome", "Selection", "Skipped", "attempted"]


class Skipped(Exception):
    """A run that is not possible here; the reason says what is missing."""


class Outcome(NamedTuple):
    """The result of a run: rows, and arrays by name for pictures."""

    rows: Sequence[Run]
    pictures: Mapping[str, np.ndarray] = {}


class Benchmark(Protocol):
    """A named list of entries, each a method on a task, run once for each seed."""

    @property
    def name(self) -> str:
        """The name of the suite and of its results file."""

    @property
    def about(self) -> str:
        """A one-line description."""

    @property
    def version(self) -> int:
        """The version of the list; runs with rows of another version are repeated."""

    @property
    def n_seeds(self) -> int:
        """Number of runs of each entry."""

    @property
    def alone(self) -> bool:
        """Whether a run must be the only one on the machine."""

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """The task and method of each entry."""

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """The benchmark with one more method, on every task."""

    def blank(self, job: Job) -> Run:
        """The row as far as it is known before the run."""

    def run(self, job: Job) -> Outcome:
        """Run one method on one task with one seed.

        Raises:
            Skipped: data or a package is missing.
        """


def attempted(benchmark: Benchmark, job: Job) -> Outcome:
    """The outcome of a run; a failed run is a row with its traceback."""
    try:
        return benchmark.run(job)
    except Skipped as reason:
        return Outcome([replace(benchmark.blank(job), status=f"skipped: {reason}")])
    except Exception:
        return failed(benchmark, job, traceback.format_exc())


def failed(benchmark: Benchmark, job: Job, why: str) -> Outcome:
    """The outcome of a run that failed."""
    return Outcome([replace(benchmark.blank(job), status="failed", traceback=why)])


@dataclass(frozen=True)
class Selection:
    """A selection of the runs of a benchmark.

    Attributes:
        n_seeds: number of seeds; None for that of the benchmark.
        match: select entries whose "task | method" contains this text.
        methods: methods to select; empty for all.
    """

    n_seeds: int | None = None
    match: str = ""
    methods: frozenset[str] = frozenset()

    def of(self, benchmark: Benchmark) -> list[Job]:
        """The runs, seed by seed."""
        n_seeds = benchmark.n_seeds if self.n_seeds is None else self.n_seeds
        wanted = [
            (task, method)
            for task, method in benchmark.pairs
            if self.match in f"{task} | {method}" and (not self.methods or method in self.methods)
        ]
        return [Job(*pair, seed) for seed in range(n_seeds) for pair in wanted]
