"""Where the runs of a sweep are made: here, or by the workers of a Dask cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import jax

from secant.benchmarks.benchmark import Benchmark, Outcome, attempted, failed
from secant.benchmarks.catalogue import Recipe
from secant.benchmarks.rows import Job
from secant.provenance import cores

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DaskCluster", "InProcess", "Scheduler", "scheduler_named"]

_MOST_MAPS = 20_000


class Scheduler(Protocol):
    """Runs jobs and hands out what they leave, in whatever order they end."""

    def outcomes(self, recipe: Recipe, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """What each job leaves, a failed one included."""

    def __str__(self) -> str:
        """Where the runs are made, in words."""


@dataclass(frozen=True)
class InProcess:
    """One run after the other, in this process."""

    def outcomes(self, recipe: Recipe, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """In the order given."""
        for job in jobs:
            yield _run_here(recipe, job)

    def __str__(self) -> str:
        """In words."""
        return "in this process"


@dataclass(frozen=True)
class DaskCluster:
    """The workers of a cluster: of one at an address, else of one on this machine.

    The embedded one has a worker process a core, each kept to its core: fits beside each other are
    then timed alike. A worker that dies is replaced and its run made again; a run that kills four
    workers is a failed row.

    Attributes:
        address: of a scheduler, such as `tcp://host:8786`; None for the embedded cluster.
        n_workers: of the embedded cluster; None for one a core.
    """

    address: str | None = None
    n_workers: int | None = None

    def outcomes(self, recipe: Recipe, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """As they end."""
        from distributed import as_completed

        benchmark = recipe.build()
        with self._client() as client:
            futures = {client.submit(_run_here, recipe, job, pure=False): job for job in jobs}
            for future in as_completed(list(futures)):
                yield _outcome(future, benchmark, futures.pop(future))

    @contextmanager
    def _client(self) -> Iterator[Client]:
        from distributed import Client, LocalCluster

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        if self.address is not None:
            with Client(self.address, timeout=10) as client:
                yield client
            return
        with (
            LocalCluster(
                n_workers=self._count(),
                threads_per_worker=1,
                memory_limit=0,  # a fit may have what there is
                dashboard_address=None,
            ) as cluster,
            Client(cluster) as client,
        ):
            client.register_plugin(_core_keeper())
            yield client

    def _count(self) -> int:
        return self.n_workers or len(cores())

    def __str__(self) -> str:
        """In words."""
        if self.address is not None:
            return f"by the cluster at {self.address}"
        return f"by {self._count()} worker processes of a Dask cluster of its own"


def scheduler_named(name: str | None, *, alone: bool) -> Scheduler:
    """The scheduler of the option `--scheduler`.

    Args:
        name: "local", "dask", the address of a cluster, or None for what suits the benchmark.
        alone: whether the benchmark's runs must have the machine to themselves.

    Raises:
        ValueError: no such scheduler, or Dask is not installed.
    """
    has_dask = find_spec("distributed") is not None
    if name == "local" or (name is None and (alone or not has_dask)):
        return InProcess()
    if name not in (None, "dask") and "://" not in str(name):
        raise ValueError(f"--scheduler must be local, dask or an address like tcp://…; got {name}.")
    if alone:
        raise ValueError("This suite measures time: it runs with --scheduler local only.")
    if not has_dask:
        raise ValueError("Dask is not installed: pip install 'secant[distributed]', or use local.")
    return DaskCluster(None if name in (None, "dask") else name)


def _run_here(recipe: Recipe, job: Job) -> Outcome:
    outcome = attempted(recipe.build(), job)
    # Each compiled program holds memory maps, of which Linux gives a process 65,530: a long sweep
    # that kept them all ended in "LLVM compilation error: Cannot allocate memory".
    if _n_maps() > _MOST_MAPS:
        jax.clear_caches()
    return outcome


def _n_maps() -> int:
    maps = Path("/proc/self/maps")
    return maps.read_bytes().count(b"\n") if maps.exists() else 0


def _outcome(future: Future[Outcome], benchmark: Benchmark, job: Job) -> Outcome:
    try:
        return future.result()
    except Exception as error:  # of the cluster: what a run raises is in its row
        return failed(benchmark, job, f"{type(error).__name__}: {error}")


def _core_keeper() -> object:
    """A plugin that keeps each worker of this machine to a core of its own."""
    from distributed import Worker, WorkerPlugin

    numbers = cores()

    class CoreKeeper(WorkerPlugin):
        name = "core-keeper"

        def setup(self, worker: Worker) -> None:
            # Before JAX counts the cores; threads begun later inherit it.
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, {numbers[int(worker.name) % len(numbers)]})

    return CoreKeeper()
