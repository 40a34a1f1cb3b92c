"""Benchmarks of log ratios; each entry is one method on one task."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from secant.diagnostics import Diagnostics
from secant.exceptions import OverlapWarning
from secant.integration import Rule, SecantSteps
from secant_bench.benchmark import Outcome
from secant_bench.rows import Job, Row, machine
from secant_bench.tasks import Ratio, Task

__all__ = ["ITS_OWN", "ONE_PASS", "Entry", "Make", "Suite", "by_random_state", "by_seed"]

Make = Callable[[int], Ratio]  # random_state → estimator
ONE_PASS: tuple[Rule | None, ...] = (SecantSteps(1),)
ITS_OWN: tuple[Rule | None, ...] = (None,)


@dataclass(frozen=True)
class Entry:
    """One method on one task, evaluated by one or more integration rules."""

    task: Task
    method: str
    make: Make
    rules: tuple[Rule | None, ...] = ONE_PASS  # None for the method's own rule

    def rows(self, blank: Row) -> list[Row]:
        """Fit once and evaluate by every rule, with one row per rule."""
        estimator = self.make(blank.seed)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # these tasks have no overlap by design
            self.task.fit(estimator, blank.seed)
        seconds = time.perf_counter() - began
        row = _described(replace(blank, seconds=seconds), estimator)
        judged = (self.task.judge(estimator, rule, row.seed) for rule in self.rules)
        return [replace(row, **asdict(judgement)) for judgement in judged]


def _described(row: Row, estimator: Ratio) -> Row:
    row = replace(row, status="finished", config=" ".join(repr(estimator).split()))
    found = getattr(estimator, "diagnostics_", None)  # other libraries may have none
    if found is not None:
        row = replace(row, held_out=found.held_out_loss)
    if isinstance(found, Diagnostics):
        row = replace(row, steps=found.steps, status=found.status.name.lower())
    return row


@dataclass(frozen=True)
class Suite:
    """A named list of entries."""

    name: str
    about: str
    entries: tuple[Entry, ...]
    n_seeds: int = 3
    alone: bool = False  # whether times are measured
    version: int = 1  # increased when the meaning of an entry changes

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """The task and method of each entry."""
        return [(entry.task.name, entry.method) for entry in self.entries]

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """The suite with another class that has `random_state`, `fit_samples` and `log_ratio`."""
        tasks = {entry.task.name: entry.task for entry in self.entries}.values()
        make: Make = by_random_state(method)
        added = tuple(Entry(task, name, make, ITS_OWN) for task in tasks)
        return replace(self, entries=self.entries + added)

    def blank(self, job: Job) -> Row:
        """The row before the fit."""
        n_rows = self._entry(job).task.n_rows
        return Row(self.name, *job, evaluations=0, n_rows=n_rows, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Fit and evaluate one entry."""
        return Outcome(self._entry(job).rows(self.blank(job)))

    def _entry(self, job: Job) -> Entry:
        place = self.pairs.index((job.task, job.method))
        return self.entries[place]


def by_seed(make: Callable[..., Ratio]) -> Make:
    """A function of the seed that builds an object with a parameter `seed`."""
    return lambda seed: make(seed=seed)


def by_random_state(make: Callable[..., Ratio]) -> Make:
    """A function of the seed that builds an estimator with a parameter `random_state`."""
    return lambda seed: make(random_state=seed)
