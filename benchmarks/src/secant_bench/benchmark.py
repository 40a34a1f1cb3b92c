"""What a benchmark is: entries by name, and how one of them is run."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from secant_bench.rows import Job, Run

__all__ = ["Benchmark", "Outcome", "Selection", "Skipped", "attempted"]


class Skipped(Exception):
    """A run that cannot be made here; the reason says what would make it possible."""


class Outcome(NamedTuple):
    """What a run leaves: rows, and arrays by name for pictures."""

    rows: Sequence[Run]
    pictures: Mapping[str, np.ndarray] = {}


class Benchmark(Protocol):
    """A named list of entries, each a method on a task, run once for each seed."""

    @property
    def name(self) -> str:
        """Of the suite and its results file."""

    @property
    def about(self) -> str:
        """One line."""

    @property
    def version(self) -> int:
        """Of the list; rows of another are made anew."""

    @property
    def n_seeds(self) -> int:
        """Runs of each entry."""

    @property
    def alone(self) -> bool:
        """Whether a run must have the machine to itself."""

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Task and method of each entry."""

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """The same with one more method, on every task."""

    def blank(self, job: Job) -> Run:
        """The row as far as it is known before the run."""

    def run(self, job: Job) -> Outcome:
        """Run one method on one task with one seed.

        Raises:
            Skipped: something that is needed is not here.
        """


def attempted(benchmark: Benchmark, job: Job) -> Outcome:
    """Run it; a failure is a result too, and is a row with its traceback."""
    try:
        return benchmark.run(job)
    except Skipped as reason:
        return Outcome([replace(benchmark.blank(job), status=f"skipped: {reason}")])
    except Exception:
        return failed(benchmark, job, traceback.format_exc())


def failed(benchmark: Benchmark, job: Job, why: str) -> Outcome:
    """The row of a run that did not come to its end."""
    return Outcome([replace(benchmark.blank(job), status="failed", traceback=why)])


@dataclass(frozen=True)
class Selection:
    """Which runs of a benchmark.

    Attributes:
        n_seeds: None is the benchmark's own number.
        match: only entries whose "task | method" contains this.
        methods: only these; empty is all.
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
