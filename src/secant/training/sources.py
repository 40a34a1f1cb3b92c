"""Sources: where the rows of a batch come from, inside the compiled loop wherever possible."""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from secant.training.devices import current_devices
from secant.training.mapped_files import check_whole
from secant.training.pairing import Pairing
from secant.training.row_numbers import RowNumbers

__all__ = [
    "ArraySource",
    "BlockSource",
    "MappedSource",
    "PairedSource",
    "SamplerSource",
    "Source",
    "Weighted",
]

Rows = Float[Array, "n d"]


class Source(eqx.Module):
    """Draws rows of x_0 and x_1."""

    @abc.abstractmethod
    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n independent rows of each sample, inside a compiled loop; `step` counts its rounds."""

    def loaded(self, key: PRNGKeyArray, n_steps: int, batch_size: int) -> Source:
        """The source for the next `n_steps` rounds, with whatever must first be read from disk."""
        del key, n_steps, batch_size
        return self


class Weighted(eqx.Module):
    """Rows with their weights: a row is drawn in proportion to its weight, uniformly without."""

    rows: Float[Array, "n d"]
    cumulative: Float[Array, " n"] | None = None
    count: Int[Array, ""] | None = None  # rows that exist, where the array was padded

    @classmethod
    def padded(
        cls, rows: Float[np.ndarray, "n d"], cumulative: Float[np.ndarray, " n"] | None = None
    ) -> Weighted:
        """Rows in an array of one of few lengths: folds of a few rows more or less share a program.

        The length is rounded up by at most an eighth, or to a multiple of 128.
        """
        n = rows.shape[0]
        unit = max(1 << max(n.bit_length() - 4, 0), 128)
        extra = -n % unit
        room = np.concatenate([rows, np.zeros((extra, rows.shape[1]), dtype=rows.dtype)])
        if cumulative is not None:
            cumulative = np.concatenate([cumulative, np.full(extra, cumulative[-1])])
        shares = None if cumulative is None else jnp.asarray(cumulative, dtype=jnp.float32)
        return cls(jnp.asarray(room), shares, jnp.asarray(n, dtype=jnp.int32))

    def draw(self, key: PRNGKeyArray, n: int) -> Rows:
        """n rows with replacement."""
        count = self.rows.shape[0] if self.count is None else self.count
        if self.cumulative is None:
            return self.rows[jax.random.randint(key, (n,), 0, count)]
        share = jax.random.uniform(key, (n,)) * self.cumulative[-1]
        index = jnp.searchsorted(self.cumulative, share, side="right")
        return self.rows[jnp.minimum(index, count - 1)]


class ArraySource(Source):
    """Two arrays in memory."""

    x_0: Weighted
    x_1: Weighted

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n independent rows of each sample."""
        del step
        key_0, key_1 = jax.random.split(key)
        return self.x_0.draw(key_0, n), self.x_1.draw(key_1, n)


class SamplerSource(Source):
    """A JAX-traceable function (key, n) → (x_0, x_1) that makes fresh rows, and their scaling."""

    sampler: Callable[[PRNGKeyArray, int], tuple[Rows, Rows]]
    scale: Callable[[Rows], Rows]

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n fresh rows of each sample."""
        del step
        x_0, x_1 = self.sampler(key, n)
        return self.scale(x_0), self.scale(x_1)


class BlockSource(Source):
    """Rows already dealt into rounds, (rounds, n, d) for each sample."""

    x_0: Float[Array, "rounds n d"]
    x_1: Float[Array, "rounds n d"]

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """The rows of this round."""
        del key, n
        return self.x_0[step], self.x_1[step]


class PairedSource(Source):
    """Rows of another source, paired anew within the batch."""

    source: Source
    pairing: Pairing

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n rows of each sample, in pairs."""
        key_rows, key_pairs = jax.random.split(key)
        x_0, x_1 = self.source.draw(key_rows, n, step)
        return self.pairing(x_0, x_1, key=key_pairs)

    def loaded(self, key: PRNGKeyArray, n_steps: int, batch_size: int) -> Source:
        """The source for the next rounds."""
        return PairedSource(self.source.loaded(key, n_steps, batch_size), self.pairing)


class MappedSource(Source):
    """Two arrays on disk (`numpy.memmap`): the rows of the next rounds are read just before them.

    Memory does not grow with the number of rows. `read` turns raw rows into scaled float32.
    """

    x_0: np.ndarray
    x_1: np.ndarray
    rows_0: RowNumbers  # which rows may be drawn
    rows_1: RowNumbers
    read: Callable[[np.ndarray], Float[np.ndarray, "n d"]]
    cumulative_0: Float[np.ndarray, " n_0"] | None = None  # of their weights; None for equal ones
    cumulative_1: Float[np.ndarray, " n_1"] | None = None

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """Not possible inside a compiled loop: see `loaded`."""
        raise TypeError("MappedSource must be loaded(...) before rows are drawn.")

    def loaded(self, key: PRNGKeyArray, n_steps: int, batch_size: int) -> BlockSource:
        """Read the rows of the next rounds."""
        devices, seed = current_devices(), np.asarray(jax.random.key_data(key)).ravel().tolist()
        if devices.own_rows:  # every process has others, and draws its share of a batch from them
            seed, batch_size = [*seed, devices.process], round(batch_size * devices.share)
        rng, shape = np.random.default_rng(seed), (n_steps, batch_size)
        return BlockSource(
            self._block(self.x_0, _drawn(self.rows_0, self.cumulative_0, rng, shape)),
            self._block(self.x_1, _drawn(self.rows_1, self.cumulative_1, rng, shape)),
        )

    def _block(
        self, data: np.ndarray, numbers: Int[np.ndarray, "rounds n"]
    ) -> Float[Array, "rounds n d"]:
        return current_devices().dealt(numbers, data.shape[1], partial(self._rows, data))

    def _rows(
        self, data: np.ndarray, numbers: Int[np.ndarray, "rounds n"]
    ) -> Float[np.ndarray, "rounds n d"]:
        check_whole(data)
        index = numbers.ravel()
        order = np.argsort(index)  # disk likes increasing offsets
        scaled = np.empty((index.size, data.shape[1]), dtype=np.float32)
        scaled[order] = self.read(data[index[order]])
        return scaled.reshape(*numbers.shape, -1)


def _drawn(
    rows: RowNumbers,
    cumulative: Float[np.ndarray, " n"] | None,
    rng: np.random.Generator,
    shape: tuple[int, int],
) -> Int[np.ndarray, "rounds n"]:
    """Row numbers with replacement, in proportion to the weights."""
    if cumulative is None:
        return rows[rng.integers(0, rows.size, size=shape)]
    place = np.searchsorted(cumulative, rng.uniform(0.0, cumulative[-1], shape), side="right")
    return rows[np.minimum(place, rows.size - 1)]
