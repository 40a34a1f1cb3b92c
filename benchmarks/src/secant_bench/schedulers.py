"""Schedulers of a sweep: this process, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from secant._host.clusters import Cluster, cluster_named, has_dask
from secant._host.jax_process import forget_if_too_many
from secant_bench.benchmark import Outcome, attempted, failed
from secant_bench.catalogue import Recipe
from secant_bench.rows import Job

__all__ = ["DaskCluster", "InProcess", "Scheduler", "scheduler_named"]


class Scheduler(Protocol):
    """Runs jobs and yields their outcomes in any order."""

    def outcomes(self, recipe: Recipe, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """The outcome of each job, including failed ones."""

    def __str__(self) -> str:
        """A description of the scheduler."""


@dataclass(frozen=True)
class InProcess:
    """One run after the other, in this process."""

    def outcomes(self, recipe: Recipe, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """The outcome of each job, in the given order."""
        for job in jobs:
            yield _run_here(recipe, job)

    def __str__(self) -> str:
        """In words."""
        return "in this process"


@dataclass(frozen=True)
class DaskCluster(Cluster):
    """The workers of a Dask cluster; a run that kills four of them is a failed row."""

    def outcomes(self, recipe: Recipe, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """The outcome of each job, in order of completion."""
        benchmark = recipe.build()
        for job, found in self.done(partial(_run_here, recipe), jobs):
            if isinstance(
                found, Exception
            ):  # an error of the cluster; those of a run are in its row
                found = failed(benchmark, job, f"{type(found).__name__}: {found}")
            yield found


def scheduler_named(name: str | None, *, alone: bool) -> Scheduler:
    """The scheduler of the option `--scheduler`.

    Args:
        name: "local", "dask", the address of a cluster, or None for the benchmark's default.
        alone: whether the benchmark's runs must be alone on the machine.

    Raises:
        ValueError: no such scheduler, or Dask is not installed.
    """
    if name is None:
        return InProcess() if alone or not has_dask() else DaskCluster()
    cluster = cluster_named(name)
    if cluster is None:
        return InProcess()
    if alone:
        raise ValueError("This suite measures time: it runs with --scheduler local only.")
    return DaskCluster(cluster.address)


def _run_here(recipe: Recipe, job: Job) -> Outcome:
    outcome = attempted(recipe.build(), job)
    forget_if_too_many()
    return outcome
