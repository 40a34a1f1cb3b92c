"""Sources: where the rows of a batch come from, inside the compiled loop wherever possible."""

from __future__ import annotations

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

__all__ = ["ArraySource", "BlockSource", "MappedSource", "SamplerSource", "Source", "Weighted"]

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

    def draw(self, key: PRNGKeyArray, n: int) -> Rows:
        """n rows with replacement."""
        if self.cumulative is None:
            return self.rows[jax.random.randint(key, (n,), 0, self.rows.shape[0])]
        share = jax.random.uniform(key, (n,)) * self.cumulative[-1]
        index = jnp.searchsorted(self.cumulative, share, side="right")
        return self.rows[jnp.minimum(index, self.rows.shape[0] - 1)]


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


class MappedSource(Source):
    """Two arrays on disk (`numpy.memmap`): the rows of the next rounds are read just before them.

    Memory does not grow with the number of rows. `read` turns raw rows into scaled float32.
    """

    x_0: np.ndarray = eqx.field(static=True)
    x_1: np.ndarray = eqx.field(static=True)
    rows_0: Int[np.ndarray, " n_0"] = eqx.field(static=True)  # which rows may be drawn
    rows_1: Int[np.ndarray, " n_1"] = eqx.field(static=True)
    read: Callable[[np.ndarray], Float[np.ndarray, "n d"]] = eqx.field(static=True)

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """Not possible inside a compiled loop: see `loaded`."""
        raise TypeError("MappedSource must be loaded(...) before rows are drawn.")

    def loaded(self, key: PRNGKeyArray, n_steps: int, batch_size: int) -> BlockSource:
        """Read the rows of the next rounds."""
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).ravel().tolist())
        shape = (n_steps, batch_size)
        return BlockSource(
            self._block(self.x_0, self.rows_0, rng, shape),
            self._block(self.x_1, self.rows_1, rng, shape),
        )

    def _block(
        self,
        data: np.ndarray,
        rows: Int[np.ndarray, " n"],
        rng: np.random.Generator,
        shape: tuple[int, int],
    ) -> Float[Array, "rounds n d"]:
        index = rows[rng.integers(0, rows.size, size=shape[0] * shape[1])]
        order = np.argsort(index)  # disk likes increasing offsets
        scaled = np.empty((index.size, data.shape[1]), dtype=np.float32)
        scaled[order] = self.read(data[index[order]])
        return jnp.asarray(scaled.reshape(*shape, -1))
