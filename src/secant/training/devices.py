"""Several devices: every batch is cut into equal shares, one a device; the weights are on all."""

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

__all__ = ["Devices", "current_devices", "data_parallel"]

_AXIS = "rows"
Numbers = Int[np.ndarray, "rounds n"]


@dataclass(frozen=True)
class Devices:
    """Where a training runs: on JAX's default device, or on a mesh of one or several processes.

    Attributes:
        mesh: the devices in a row; None for the default device, and nothing is moved.
        own_rows: whether every process brings rows of its own; else all bring the same.
    """

    mesh: Mesh | None = None
    own_rows: bool = False

    @property
    def count(self) -> int:
        """Devices of all processes."""
        return 1 if self.mesh is None else int(self.mesh.size)

    @property
    def share(self) -> float:
        """Of a batch that is on the devices of this process."""
        return 1.0 if self.mesh is None else len(self.mesh.local_devices) / self.count

    @property
    def processes(self) -> int:
        """That train together."""
        return 1 if self.mesh is None else jax.process_count()

    @property
    def process(self) -> int:
        """Which of them this one is; the first prints and writes."""
        return 0 if self.mesh is None else jax.process_index()

    def everywhere(self, tree: PyTree) -> PyTree:
        """The tree with its arrays of JAX on every device."""
        if self.mesh is None:
            return tree
        sharding = NamedSharding(self.mesh, PartitionSpec())
        return jax.tree.map(partial(_moved, partial(_placed, sharding=sharding)), tree)

    def here(self, tree: PyTree) -> PyTree:
        """A tree that was `everywhere`, as arrays of this process alone."""
        return tree if self.mesh is None else jax.tree.map(partial(_moved, _taken), tree)

    def split(self, tree: PyTree) -> PyTree:
        """Within a compiled program: arrays whose first axis, the rows, is shared out."""
        return self._laid_out(tree, PartitionSpec(_AXIS))

    def alike(self, tree: PyTree) -> PyTree:
        """Within a compiled program: arrays that are the same on every device."""
        return self._laid_out(tree, PartitionSpec())

    def dealt(
        self, numbers: Numbers, width: int, read: Callable[[Numbers], Float[np.ndarray, "... d"]]
    ) -> Float[Array, "rounds m d"]:
        """Rows by their numbers, shared out along the second axis; each process reads its share.

        Args:
            numbers: of all rows of a round, or with `own_rows` of the share of this process.
            width: number of columns.
            read: rows of such numbers.
        """
        if self.mesh is None:
            return jnp.asarray(read(numbers))
        sharding = NamedSharding(self.mesh, PartitionSpec(None, _AXIS))
        rounds, n = numbers.shape
        if self.own_rows:
            shape = (rounds, round(n / self.share), width)
            return jax.make_array_from_process_local_data(sharding, read(numbers), shape)
        return jax.make_array_from_callback(
            (rounds, n, width), sharding, lambda place: read(numbers[tuple(place or ())[:2]])
        )

    def check(self, batch_size: int) -> None:
        """Refuse a batch that cannot be cut into equal shares.

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
    """An array of JAX, moved; a random key by its bits, anything else as it is."""
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
    return jnp.array(np.asarray(array))  # a copy: the loop donates what it was made from


_current: ContextVar[Devices] = ContextVar("devices")


def current_devices() -> Devices:
    """Where a training that begins now runs."""
    return _current.get(Devices())


@contextmanager
def data_parallel(
    devices: Sequence[jax.Device] | None = None, *, own_rows: bool = False
) -> Iterator[Devices]:
    """Within it, every training shares its batches out over several devices.

    Each step draws the same rows, times and noise as on one device, each device takes an equal
    share of them, and the gradients are averaged: the model is that of one device up to rounding.
    With several processes (`jax.distributed.initialize`) all of them make the same fits, in the
    same order, and end with the same models; the first prints and writes checkpoints.

    Args:
        devices: some of `jax.devices()`; all by default, those of other processes included.
        own_rows: whether every process brings rows of its own, an equal share of all; else all
            bring the same. For `fit_samples` of estimators that train a network.

    Raises:
        ValueError: a process has none of the devices.

    Examples:
        >>> import numpy as np, secant
        >>> from secant.training import data_parallel
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2))
        >>> ratio = secant.ClassifierRatio(training=secant.Training(steps=20), random_state=0)
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
