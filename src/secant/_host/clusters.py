"""Dask clusters that run many tasks, local or at an address."""

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


_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask cluster, at an address or on this machine.

    A local cluster has one worker process per core, pinned to its core, so that the times of
    concurrent tasks are comparable. A worker that dies is replaced and its task repeated; a task
    that kills four workers has failed.

    Attributes:
        address: of a scheduler, such as `tcp://host:8786`; None for a local cluster.
        n_workers: of the local cluster; None for one per core.
    """

    address: str | None = None
    n_workers: int | None = None

    def done(
        self, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
    ) -> Iterator[tuple[_Task, _Result | Exception]]:
        """Yield each task with its result or exception, in order of completion."""
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
                memory_limit=0,  # no limit: a task may use all memory
                dashboard_address=":0",  # a free port: 8787 may serve another cluster
            ) as cluster,
            Client(cluster) as client,
        ):
            client.register_plugin(_core_keeper())
            yield client

    def _count(self) -> int:
        return self.n_workers or len(cores())

    def __str__(self) -> str:
        """A description of the cluster."""
        if self.address is not None:
            return f"by the cluster at {self.address}"
        return f"by {self._count()} worker processes of a Dask cluster of its own"


def _result_or_error(future: Future[_Result]) -> _Result | Exception:
    try:
        return future.result()
    except Exception as error:  # raised by the task or by the cluster
        return error


def has_dask() -> bool:
    """Whether the extra `distributed` is installed."""
    return find_spec("distributed") is not None


def cluster_named(name: str) -> Cluster | None:
    """The cluster for the option `--scheduler`; None for "local", the current process.

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
    """A plugin that pins each local worker to its own core."""
    from distributed import Worker, WorkerPlugin

    numbers = cores()

    class CoreKeeper(WorkerPlugin):
        name = "core-keeper"

        def setup(self, worker: Worker) -> None:
            # Before JAX counts the cores; threads started later inherit the affinity.
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, {numbers[int(worker.name) % len(numbers)]})

    return CoreKeeper()
