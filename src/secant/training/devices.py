"""Several devices and processes: each takes an equal share of every batch; weights are on all."""

from __future__ import annotations

import hashlib
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

from secant.training.fingerprints import first_difference

__all__ = [
    "Devices",
    "agreed",
    "check_even",
    "common_fingerprint",
    "current_devices",
    "data_parallel",
    "gathered",
    "highest",
    "pooled",
    "refuse_own_rows",
    "summed",
]

_AXIS = "rows"
_UNEVEN = 0.01  # by which the shares of the rows that processes bring may differ
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


def gathered(array: np.ndarray) -> list[np.ndarray]:
    """An array of one shape and type, from every process."""
    if current_devices().processes == 1:
        return [array]
    from jax.experimental.multihost_utils import process_allgather

    # As bytes: JAX would make float32 of float64.
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    every = np.asarray(process_allgather(raw))
    return [one.copy().view(array.dtype).reshape(array.shape) for one in every]


def agreed(*numbers: float) -> list[float]:
    """The numbers of the first process, by which all decide alike."""
    found: list[float] = gathered(np.array(numbers, dtype=np.float64))[0].tolist()
    return found


def highest(number: int) -> int:
    """The highest that any process has."""
    return max(int(one) for one in gathered(np.array(number)))


def pooled(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "m d"]:
    """The rows of all processes where each has its own; else the rows as they came."""
    if not current_devices().own_rows:
        return rows
    counts = [int(n) for n in gathered(np.array(rows.shape[0]))]
    room = np.zeros((max(counts), rows.shape[1]))
    room[: rows.shape[0]] = rows
    return np.concatenate([x[:n] for x, n in zip(gathered(room), counts, strict=True)])


def summed(array: Float[np.ndarray, ...]) -> Float[np.ndarray, ...]:
    """The sum over processes where each has its own rows; else the array as it came."""
    return np.sum(gathered(array), axis=0) if current_devices().own_rows else array


def check_even(masses: Sequence[float], n_features: int) -> None:
    """Refuse own rows that the processes have unequally many of: batches take as many from each.

    Args:
        masses: for each sample, the number of rows of this process, or the sum of their weights.
        n_features: number of columns.

    Raises:
        ValueError: they differ by more than 1 % a device, or in their columns.
    """
    devices = current_devices()
    if not devices.own_rows:
        return
    every = np.array(gathered(np.array([n_features, *np.divide(masses, devices.share)])))
    if np.ptp(every[:, 0]):
        raise ValueError(
            "with own_rows, every process must bring rows of the same columns; got "
            f"{every[:, 0].astype(int).tolist()} columns."
        )
    for name, column in zip(("x_0", "x_1"), every.T[1:], strict=True):
        if np.ptp(column) > _UNEVEN * column.max():
            raise ValueError(
                f"with own_rows, processes must bring equal shares of {name}, to "
                f"{_UNEVEN:.0%}; got {_shares(column)}. Deal the files out again, or cut the "
                "longer ones."
            )


def refuse_own_rows(estimator: object) -> None:
    """For estimators that train no network, and would fit the rows of one process only.

    Raises:
        ValueError: every process has rows of its own.
    """
    if current_devices().own_rows:
        raise ValueError(
            "with own_rows, estimators that train a network fit the rows of all processes; "
            f"{type(estimator).__name__} would fit those of one. Fit it outside data_parallel, on "
            "rows gathered in one place."
        )


def _shares(column: Float[np.ndarray, " processes"]) -> str:
    return ", ".join(f"{share:.1%}" for share in column / column.sum())


def common_fingerprint(own: dict[str, str]) -> dict[str, str]:
    """The digests of a training that several processes do together.

    Raises:
        ValueError: they are about to train different things.
    """
    devices = current_devices()
    if devices.processes == 1:
        return own
    raw = np.frombuffer(bytes.fromhex("".join(own.values())), dtype=np.uint8)
    every = [
        dict(zip(own, [part.tobytes().hex() for part in one.reshape(len(own), -1)], strict=True))
        for one in gathered(raw)
    ]
    if devices.own_rows:
        joined = hashlib.sha256("".join(one["data"] for one in every).encode()).hexdigest()
        every = [{**one, "data": joined} for one in every]
    for number, one in enumerate(every):
        difference = first_difference(one, every[0])
        if difference is not None:
            raise ValueError(
                "processes that train together must make the same fit; process "
                f"{number} came with {difference}. Give all the same rows, settings and "
                "`random_state`; for rows of their own, data_parallel(own_rows=True)."
            )
    return every[0]
