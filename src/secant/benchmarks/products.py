"""Suites that are a product of tasks, methods and seeds, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import jax

from secant.benchmarks.rows import Run, append_row, read_rows

__all__ = ["Product", "Selection", "run_product"]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Task = TypeVar("Task", bound=_Named)
Row = TypeVar("Row", bound=Run)


@dataclass(frozen=True)
class Product(Generic[Task]):
    """Tasks × methods × seeds.

    Attributes:
        name: of the suite and its results file.
        about: one line.
        tasks: what is estimated.
        methods: names of the methods it is estimated by.
        n_seeds: runs of each.
    """

    name: str
    about: str
    tasks: tuple[Task, ...]
    methods: tuple[str, ...]
    n_seeds: int = 3


@dataclass(frozen=True)
class Selection:
    """Which runs of a product.

    Attributes:
        n_seeds: None is the suite's own number.
        part: (i, n) is every n-th run from the i-th on, so that n processes share a suite.
        match: only runs whose "task | method" contains this.
    """

    n_seeds: int | None = None
    part: tuple[int, int] = (0, 1)
    match: str = ""

    def of(self, suite: Product[Task]) -> list[tuple[Task, str, int]]:
        """The runs, seed by seed."""
        seeds = range(suite.n_seeds if self.n_seeds is None else self.n_seeds)
        runs = [
            (task, method, seed)
            for seed, task, method in product(seeds, suite.tasks, suite.methods)
            if self.match in f"{task.name} | {method}"
        ]
        return runs[self.part[0] :: self.part[1]]


def run_product(
    suite: Product[Task],
    results: Path,
    kind: type[Row],
    run: Callable[[Task, str, int], Sequence[Row]],
    selection: Selection,
    *,
    runs_between_clearing: int,
) -> Iterator[Row]:
    """Run what is not in the results file yet, appending and yielding rows.

    Args:
        suite: what to run.
        results: a JSON-lines file.
        kind: of its rows.
        run: a task by a method with a seed.
        selection: of the runs.
        runs_between_clearing: compiled programs are shared by like runs, and hold memory.
    """
    for count, (task, method, seed) in enumerate(selection.of(suite), start=1):
        done = {row.key for row in read_rows(results, kind)}
        if (task.name, method, seed) in done:
            continue
        for row in run(task, method, seed):
            append_row(results, row)
            yield row
        if count % runs_between_clearing == 0:
            jax.clear_caches()
