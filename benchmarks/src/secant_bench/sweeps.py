"""A sweep: the runs of a benchmark that are not in its results file yet."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from secant._host.atomic_files import write_atomically
from secant_bench.benchmark import Selection
from secant_bench.catalogue import Recipe
from secant_bench.rows import Job, Run, keep_rows, read_states
from secant_bench.schedulers import InProcess, Scheduler

__all__ = ["Again", "Sweep"]


class Again(StrEnum):
    """The finished runs to repeat."""

    FAILED = "failed"
    ALL = "all"


@dataclass(frozen=True)
class Sweep:
    """Runs of a benchmark, and the results file to which each adds its rows when it ends.

    A sweep can be stopped at any moment. When started again, it makes the runs whose rows are
    missing or of another version of the list.

    Attributes:
        recipe: of the benchmark.
        results: the folder of the results files.
        selection: of the benchmark's runs.
        again: finished runs to repeat; None for none.
    """

    recipe: Recipe
    results: Path
    selection: Selection = field(default_factory=Selection)
    again: Again | None = None

    @property
    def path(self) -> Path:
        """The results file."""
        return self.results / self.recipe.file

    def jobs(self) -> list[Job]:
        """The runs to make, including those that were skipped for a lack of data."""
        benchmark = self.recipe.build()
        states = read_states(self.path, benchmark.version)
        return [job for job in self.selection.of(benchmark) if self._is_open(job, states)]

    def _is_open(self, job: Job, states: Mapping[Job, str]) -> bool:
        state = states.get(job)
        if state is None or state.startswith("skipped") or self.again is Again.ALL:
            return True
        return self.again is Again.FAILED and state == "failed"

    def run(self, scheduler: Scheduler | None = None) -> Iterator[Run]:
        """Make the runs; write and yield their rows."""
        jobs = self.jobs()
        if not jobs:  # do not start a cluster
            return
        for outcome in (scheduler or InProcess()).outcomes(self.recipe, jobs):
            for name, picture in outcome.pictures.items():
                _keep_picture(self.path.with_suffix("") / name, picture)
            rows = [replace(row, version=self.recipe.build().version) for row in outcome.rows]
            keep_rows(self.path, rows)
            yield from rows


def _keep_picture(path: Path, picture: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.save(buffer, picture, allow_pickle=False)
    write_atomically(path, buffer.getvalue())
