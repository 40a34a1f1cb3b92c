"""Sources: where the rows of a batch come from, inside the compiled loop wherever possible."""

from __future__ import annotations

import abc
import mmap
from collections.abc import Callable, Iterator
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from secant.training.devices import current_devices
from secant.training.pairing import Pairing

__all__ = [
    "AllBut",
    "ArraySource",
    "BlockSource",
    "MappedSource",
    "PairedSource",
    "RowNumbers",
    "SamplerSource",
    "Source",
    "Weighted",
    "check_whole",
    "source_key",
]

Rows = Float[Array, "n d"]
Seed = list[int]

_ROUNDS_AT_ONCE = 64  # rounds read from disk at a time: one shape, compiled once


def source_key(key: UInt32[np.ndarray, " words"], step: int) -> Seed:
    """The seed of the random row numbers that are read from this step on."""
    return [*key.tolist(), step]


class Source(eqx.Module):
    """Draws rows of x_0 and x_1."""

    @abc.abstractmethod
    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n independent rows of each sample, inside a compiled loop; `step` is the round."""

    def rounds(self, n_steps: int) -> Iterator[int]:
        """Divide `n_steps` rounds into the portions that are loaded together."""
        yield n_steps

    def loaded(self, seed: Seed, n_steps: int, batch_size: int) -> Source:
        """The source for the next `n_steps` rounds, with rows on disk read first."""
        del seed, n_steps, batch_size
        return self


class Weighted(eqx.Module):
    """Rows drawn in proportion to their weights; uniformly if they have none."""

    rows: Float[Array, "n d"]
    cumulative: Float[Array, " n"] | None = None
    count: Int[Array, ""] | None = None  # rows that exist, where the array was padded

    @classmethod
    def padded(
        cls, rows: Float[np.ndarray, "n d"], cumulative: Float[np.ndarray, " n"] | None = None
    ) -> Weighted:
        """Pad rows to one of few lengths, so that folds of similar size share a program.

        The length is rounded up by at most an eighth, or to a multiple of 128.
        """
        n = rows.shape[0]
        unit = max(1 << max(n.bit_length() - 4, 0), 128)
        extra = -n % unit
        room = np.concatenate([rows, np.zeros((extra, rows.shape[1]), dtype=rows.dtype)])
        if cumulative is not None:
            cumulative = np.concatenate([cumulative, np.full(extra, cumulative[-1])])
        shares = None if cumulative is None else cumulative.astype(np.float32)
        return cls(*jax.device_put((room, shares, np.asarray(n, dtype=np.int32))))

    def drawn(self, bits: UInt32[Array, " n"]) -> Rows:
        """A row for each random word, with replacement.

        Without weights a row's probability is off by at most a share n_rows / 2³² of itself.
        """
        count = jnp.asarray(self.rows.shape[0] if self.count is None else self.count, jnp.uint32)
        if self.cumulative is None:
            index = bits % count
        else:
            # 23 bits: with more, the largest would round to the sum of all weights.
            share = (bits >> 9).astype(self.cumulative.dtype) * (2.0**-23 * self.cumulative[-1])
            found = jnp.searchsorted(self.cumulative, share, side="right")
            index = jnp.minimum(found.astype(jnp.uint32), count - 1)
        return self.rows.at[index].get(mode="promise_in_bounds")


class ArraySource(Source):
    """Two arrays in memory."""

    x_0: Weighted
    x_1: Weighted

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n independent rows of each sample."""
        del step
        # All random words in one call: each call of the generator compiles a dozen kernels.
        bits_0, bits_1 = jax.random.bits(key, (2, n), jnp.uint32)
        return self.x_0.drawn(bits_0), self.x_1.drawn(bits_1)


class SamplerSource(Source):
    """A JAX-traceable function (key, n) → (x_0, x_1) that draws new rows, and their scaling."""

    sampler: Callable[[PRNGKeyArray, int], tuple[Rows, Rows]]
    scale: Callable[[Rows], Rows]

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n fresh rows of each sample."""
        del step
        x_0, x_1 = self.sampler(key, n)
        return self.scale(x_0), self.scale(x_1)


class BlockSource(Source):
    """Rows already divided into rounds, (rounds, n, d) for each sample."""

    x_0: Float[Array, "rounds n d"]
    x_1: Float[Array, "rounds n d"]

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """The rows of this round."""
        del key, n
        return self.x_0[step], self.x_1[step]


class PairedSource(Source):
    """Rows of another source, with a pairing within the batch."""

    source: Source
    pairing: Pairing

    def draw(self, key: PRNGKeyArray, n: int, step: Int[Array, ""]) -> tuple[Rows, Rows]:
        """n rows of each sample, in pairs."""
        key_rows, key_pairs = jax.random.split(key)
        x_0, x_1 = self.source.draw(key_rows, n, step)
        return self.pairing(x_0, x_1, key=key_pairs)

    def rounds(self, n_steps: int) -> Iterator[int]:
        """Divide `n_steps` rounds into the portions that are loaded together."""
        return self.source.rounds(n_steps)

    def loaded(self, seed: Seed, n_steps: int, batch_size: int) -> Source:
        """The source for the next rounds."""
        return PairedSource(self.source.loaded(seed, n_steps, batch_size), self.pairing)


class MappedSource(Source):
    """Two arrays on disk (`numpy.memmap`); the rows of a round are read just before it.

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

    def rounds(self, n_steps: int) -> Iterator[int]:
        """Divide `n_steps` rounds into the portions that are loaded together."""
        for start in range(0, n_steps, _ROUNDS_AT_ONCE):
            yield min(_ROUNDS_AT_ONCE, n_steps - start)

    def loaded(self, seed: Seed, n_steps: int, batch_size: int) -> BlockSource:
        """Read the rows of the next rounds; shorter blocks are padded with their last round."""
        devices = current_devices()
        if devices.own_rows:  # every process draws its share of a batch from its own rows
            seed, batch_size = [*seed, devices.process], round(batch_size * devices.share)
        rng, shape = np.random.default_rng(seed), (n_steps, batch_size)
        return BlockSource(
            self._block(self.x_0, _drawn(self.rows_0, self.cumulative_0, rng, shape)),
            self._block(self.x_1, _drawn(self.rows_1, self.cumulative_1, rng, shape)),
        )

    def _block(
        self, data: np.ndarray, numbers: Int[np.ndarray, "rounds n"]
    ) -> Float[Array, "rounds n d"]:
        whole = np.pad(numbers, ((0, _ROUNDS_AT_ONCE - len(numbers)), (0, 0)), mode="edge")
        return current_devices().dealt(whole, data.shape[1], partial(self._rows, data))

    def _rows(
        self, data: np.ndarray, numbers: Int[np.ndarray, "rounds n"]
    ) -> Float[np.ndarray, "rounds n d"]:
        check_whole(data)
        # In increasing order and without repeats, for fast disk access.
        index, place = np.unique(numbers, return_inverse=True)
        return self.read(data[index])[place.reshape(numbers.shape)]


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


Places = Int[np.ndarray, "*shape"]


class AllBut(eqx.Module):
    """The increasing sequence 0 … n − 1 without a few numbers; only those are stored.

    Attributes:
        n: length of the full sequence.
        without: the numbers left out, increasing.
    """

    n: int = eqx.field(static=True)
    without: Int[np.ndarray, " k"]

    @property
    def size(self) -> int:
        """The length of the sequence."""
        return self.n - self.without.size

    def __getitem__(self, places: Places) -> Places:
        """The numbers at places 0 … size − 1 of the sequence."""
        before = self.without - np.arange(self.without.size)  # numbers before each gap
        return places + np.searchsorted(before, places, side="right")


RowNumbers = AllBut | Int[np.ndarray, " n"]  # an array if rows have weights


def check_whole(rows: np.ndarray) -> None:
    """Check that the file of a memory map was not truncated, which would end the process by SIGBUS.

    A file that was deleted or replaced stays available while it is mapped.

    Raises:
        OSError: rows are missing.
    """
    base: object = rows
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(rows, np.memmap) or not isinstance(base, mmap.mmap):
        return
    needed = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY + len(base)
    if base.size() < needed:
        raise OSError(
            f"{rows.filename} was cut to {base.size():,} bytes while it was read; its rows need "
            f"{needed:,}. Restore the file and run again; a fit with checkpoints resumes."
        )
