"""Clusters: Dask workers that do many tasks, on this machine or at an address."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from secant._host.provenance import cores

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Cluster", "cluster_named", "has_dask"]

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Cluster:
    """The workers of a cluster: of one at an address, else of one on this machine.

    The embedded one has a worker process a core, each kept to its core: tasks beside each other are
    then timed alike. A worker that dies is replaced and its task done again; a task that kills four
    workers has failed.

    Attributes:
        address: of a scheduler, such as `tcp://host:8786`; None for the embedded cluster.
        n_workers: of the embedded cluster; None for one a core.
    """

    address: str | None = None
    n_workers: int | None = None

    def done(
        self, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
    ) -> Iterator[tuple[_Task, _Result | Exception]]:
        """Each task with what came of it, or what it raised, as they end."""
        from distributed import as_completed

        with self._client() as client:
            futures = {client.submit(function, task, pure=False): task for task in tasks}
            for future in as_completed(list(futures)):
                yield futures.pop(future), _result_or_error(future)

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
                memory_limit=0,  # a task may have what there is
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


def _result_or_error(future: Future[_Result]) -> _Result | Exception:
    try:
        return future.result()
    except Exception as error:  # of the task, or of the cluster
        return error


def has_dask() -> bool:
    """Whether the extra `distributed` is installed."""
    return find_spec("distributed") is not None


def cluster_named(name: str) -> Cluster | None:
    """The cluster of the option `--scheduler`; None for "local", which is this process.

    Args:
        name: "local", "dask", or the address of a cluster.

    Raises:
        ValueError: no such scheduler, or Dask is not installed.
    """
    if name == "local":
        return None
    if name != "dask" and "://" not in name:
        raise ValueError(f"--scheduler must be local, dask or an address like tcp://…; got {name}.")
    if not has_dask():
        raise ValueError("Dask is not installed: pip install 'secant[distributed]', or use local.")
    return Cluster(None if name == "dask" else name)


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
