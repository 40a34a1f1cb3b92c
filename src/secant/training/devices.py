"""Data-parallel training on several devices and processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int, PyTree

__all__ = [
    "Devices",
    "agreed",
    "check_even",
    "current_devices",
    "data_parallel",
    "gathered",
    "highest",
    "pooled",
    "refuse_own_rows",
    "summed",
]

_AXIS = "rows"
_UNEVEN = 0.01  # tolerated relative difference between the processes' numbers of rows
Numbers = Int[np.ndarray, "rounds n"]


@dataclass(frozen=True)
class Devices:
    """The devices of a training: JAX's default device, or a mesh of one or several processes.

    Attributes:
        mesh: the devices; None for the default device, without any transfer.
        own_rows: whether every process has its own rows; else all have the same rows.
    """

    mesh: Mesh | None = None
    own_rows: bool = False

    @property
    def count(self) -> int:
        """The number of devices of all processes."""
        return 1 if self.mesh is None else int(self.mesh.size)

    @property
    def share(self) -> float:
        """The share of a batch on the devices of this process."""
        return 1.0 if self.mesh is None else len(self.mesh.local_devices) / self.count

    @property
    def processes(self) -> int:
        """The number of processes in this training."""
        return 1 if self.mesh is None else jax.process_count()

    @property
    def process(self) -> int:
        """The index of this process; process 0 prints and writes."""
        return 0 if self.mesh is None else jax.process_index()

    def everywhere(self, tree: PyTree) -> PyTree:
        """The tree with its JAX arrays replicated on every device."""
        if self.mesh is None:
            return tree
        sharding = NamedSharding(self.mesh, PartitionSpec())
        return jax.tree.map(partial(_moved, partial(_placed, sharding=sharding)), tree)

    def here(self, tree: PyTree) -> PyTree:
        """A replicated tree as arrays of this process."""
        return tree if self.mesh is None else jax.tree.map(partial(_moved, _taken), tree)

    def split(self, tree: PyTree) -> PyTree:
        """Inside a compiled program: shard arrays along the first axis, the rows."""
        return self._laid_out(tree, PartitionSpec(_AXIS))

    def alike(self, tree: PyTree) -> PyTree:
        """Inside a compiled program: replicate arrays on every device."""
        return self._laid_out(tree, PartitionSpec())

    def dealt(
        self, numbers: Numbers, width: int, read: Callable[[Numbers], Float[np.ndarray, "... d"]]
    ) -> Float[Array, "rounds m d"]:
        """Read rows by index, sharded along the second axis; each process reads its share.

        Args:
            numbers: indices of all rows of a round, or with `own_rows` of this process's share.
            width: number of columns.
            read: reads rows by index.
        """
        if self.mesh is None:
            return jax.device_put(read(numbers))
        sharding = NamedSharding(self.mesh, PartitionSpec(None, _AXIS))
        rounds, n = numbers.shape
        if self.own_rows:
            shape = (rounds, round(n / self.share), width)
            return jax.make_array_from_process_local_data(sharding, read(numbers), shape)
        return jax.make_array_from_callback(
            (rounds, n, width), sharding, lambda place: read(numbers[tuple(place or ())[:2]])
        )

    def check(self, batch_size: int) -> None:
        """Check that a batch can be divided into equal shares.

        Raises:
            ValueError: it cannot.
        """
        if batch_size % self.count:
            below = batch_size - batch_size % self.count
            near = [str(n) for n in (below, below + self.count) if n > 0]
            raise ValueError(
                f"within data_parallel, Training.batch_size must be a multiple of the number of "
                f"devices, {self.count}; got {batch_size}. Take {' or '.join(near)}."
            )

    def __str__(self) -> str:
        kind = jax.default_backend()
        return kind if self.mesh is None else f"{self.count} x {kind}"

    def _laid_out(self, tree: PyTree, spec: PartitionSpec) -> PyTree:
        if self.mesh is None:
            return tree
        sharding = NamedSharding(self.mesh, spec)
        return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, sharding), tree)


def _moved(move: Callable[[Array], Array], leaf: Any) -> Any:  # noqa: ANN401
    """Move a JAX array; a random key by its bits; leave anything else unchanged."""
    if not isinstance(leaf, jax.Array):
        return leaf
    if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return move(leaf)
    return jax.random.wrap_key_data(move(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))


def _placed(array: Array, sharding: NamedSharding) -> Array:
    host = np.asarray(array)
    return jax.make_array_from_callback(host.shape, sharding, lambda place: host[place])


def _taken(array: Array) -> Array:
    assert array.is_fully_replicated
    return jnp.array(np.asarray(array))  # a copy, because the loop donates the original


_current: ContextVar[Devices] = ContextVar("devices")


def current_devices() -> Devices:
    """The devices of a training that starts now."""
    return _current.get(Devices())


@contextmanager
def data_parallel(
    devices: Sequence[jax.Device] | None = None, *, own_rows: bool = False
) -> Iterator[Devices]:
    """A context in which training divides its batches over several devices.

    Each step draws the same rows, times and noise as on one device, each device takes an equal
    share of them, and the gradients are averaged: the model equals that of one device up to
    rounding. With several processes (`jax.distributed.initialize`) all make the same fits, in the
    same order, with the same results; the first one prints and writes checkpoints.

    Args:
        devices: some of `jax.devices()`; all by default, those of other processes included.
        own_rows: whether every process has its own rows, an equal share of all; else all have
            the same rows. For `fit_samples` of estimators that train a network.

    Raises:
        ValueError: a process has none of the devices.

    Examples:
        >>> import numpy as np, secant
        >>> from secant.training import data_parallel
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2))
        >>> ratio = secant.ClassifierRatio(random_state=0)
        >>> alone = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
        >>> with data_parallel():
        ...     together = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
        >>> bool(np.allclose(alone, together, atol=1e-4))
        True
    """
    found = list(jax.devices() if devices is None else devices)
    missing = set(range(jax.process_count())) - {device.process_index for device in found}
    if missing:
        raise ValueError(
            f"`devices` must hold some of every process; got {len(found)} device(s), none of "
            f"process {min(missing)}. Leave it out to take all {jax.device_count()}."
        )
    together = Devices(Mesh(np.array(found), (_AXIS,)), own_rows)
    token = _current.set(together)
    try:
        yield together
    finally:
        _current.reset(token)


def gathered(array: np.ndarray) -> list[np.ndarray]:
    """Gather an array of one shape and type from every process."""
    if current_devices().processes == 1:
        return [array]
    from jax.experimental.multihost_utils import process_allgather

    # As bytes, because JAX would convert float64 to float32.
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    every = np.asarray(process_allgather(raw))
    return [one.copy().view(array.dtype).reshape(array.shape) for one in every]


def agreed(*numbers: float) -> list[float]:
    """Numbers of the first process, so that all processes take the same decisions."""
    found: list[float] = gathered(np.array(numbers, dtype=np.float64))[0].tolist()
    return found


def highest(number: int) -> int:
    """The maximum over processes."""
    return max(int(one) for one in gathered(np.array(number)))


def pooled(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "m d"]:
    """The rows of all processes with `own_rows`; else the rows unchanged."""
    if not current_devices().own_rows:
        return rows
    counts = [int(n) for n in gathered(np.array(rows.shape[0]))]
    room = np.zeros((max(counts), rows.shape[1]))
    room[: rows.shape[0]] = rows
    return np.concatenate([x[:n] for x, n in zip(gathered(room), counts, strict=True)])


def summed(array: Float[np.ndarray, ...]) -> Float[np.ndarray, ...]:
    """The sum over processes with `own_rows`; else the array unchanged."""
    return np.sum(gathered(array), axis=0) if current_devices().own_rows else array


def check_even(masses: Sequence[float], n_features: int) -> None:
    """Check that the processes have equal shares of the rows, as batches assume.

    Args:
        masses: for each sample, the number of rows of this process, or the sum of their weights.
        n_features: number of columns.

    Raises:
        ValueError: they differ by more than 1 % per device, or in their columns.
    """
    devices = current_devices()
    if not devices.own_rows:
        return
    every = np.array(gathered(np.array([n_features, *np.divide(masses, devices.share)])))
    if np.ptp(every[:, 0]):
        raise ValueError(
            "with own_rows, every process must have rows of the same columns; got "
            f"{every[:, 0].astype(int).tolist()} columns."
        )
    for name, column in zip(("x_0", "x_1"), every.T[1:], strict=True):
        if np.ptp(column) > _UNEVEN * column.max():
            raise ValueError(
                f"with own_rows, processes must bring equal shares of {name}, to "
                f"{_UNEVEN:.0%}; got {_shares(column)}. Divide the files differently, or cut the "
                "longer ones."
            )


def refuse_own_rows(estimator: object) -> None:
    """Raise an error for estimators without a network, which would fit one process's rows only.

    Raises:
        ValueError: every process has its own rows.
    """
    if current_devices().own_rows:
        raise ValueError(
            "with own_rows, estimators that train a network fit the rows of all processes; "
            f"{type(estimator).__name__} would fit those of one. Fit it outside data_parallel, on "
            "rows gathered in one place."
        )


def _shares(column: Float[np.ndarray, " processes"]) -> str:
    return ", ".join(f"{share:.1%}" for share in column / column.sum())
