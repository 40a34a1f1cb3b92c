"""From two samples in any form to what training needs: scaled rows, held-out rows, moments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from secant.estimators.gaussians import Gaussian
from secant.estimators.scaling import Scaling, ScalingRule
from secant.paths import Moments
from secant.training.devices import current_devices
from secant.training.mapped_files import check_whole
from secant.training.processes import check_even, pooled
from secant.training.row_numbers import AllBut, RowNumbers
from secant.training.settings import Training
from secant.training.sources import (
    ArraySource,
    MappedSource,
    SamplerSource,
    Source,
    Weighted,
)

__all__ = [
    "Prepared",
    "Sample",
    "from_sampler",
    "from_samples",
    "paired_rows",
    "rows_for_scaling",
]

Sampler = Callable[[PRNGKeyArray, int], tuple[Float[Array, "n d"], Float[Array, "n d"]]]

_ROWS_FOR_SCALING = 100_000
_ROWS_IN_HAND = 20_000
_ROWS_AS_THEY_CAME = 10_000
_MOST_ROWS_FOR_MOMENTS = 2_000_000
_BLOCK = 1 << 16
_FEWEST_PAIRS = 4096  # held-out pairs: few rows are paired and timed several times over


@dataclass(frozen=True)
class Sample:
    """Raw rows of one sample, in memory or on disk, with optional weights."""

    rows: np.ndarray
    weights: Float[np.ndarray, " n"] | None = None

    @property
    def mass(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.rows.shape[0] if self.weights is None else self.weights.sum())


@dataclass(frozen=True)
class Prepared:
    """Everything about the data that training and diagnostics use, in scaled coordinates."""

    source: Source
    scaling: Scaling
    held_0: Float[np.ndarray, "m d"]
    held_1: Float[np.ndarray, "m d"]
    rows_0: Float[np.ndarray, "k d"]  # some of the training rows, for whatever fits in memory
    rows_1: Float[np.ndarray, "k d"]
    raw_0: Float[np.ndarray, "j d"]  # a few rows as they came, before scaling
    raw_1: Float[np.ndarray, "j d"]
    gaussian_0: Gaussian
    gaussian_1: Gaussian

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.held_0.shape[1]

    @property
    def moments(self) -> Moments:
        """What the mean variance of the conditional time score needs."""
        cross = self.gaussian_0.mean @ self.gaussian_1.mean
        # Arrays: plain numbers would become part of the program, compiled anew for every data set.
        return Moments(*jnp.asarray([self.gaussian_0.square, self.gaussian_1.square, cross]))


def from_samples(
    sample_0: Sample, sample_1: Sample, rule: ScalingRule, training: Training, seed: int
) -> Prepared:
    """Prepare two arrays, in memory or memory-mapped.

    Of rows that every process brings of its own, as many of each are pooled as one would take: all
    processes come to the same scaling, held-out rows and moments.
    """
    rng = np.random.default_rng(seed)
    samples = (sample_0, sample_1)
    check_even([s.mass for s in samples], sample_0.rows.shape[1])
    splits = [_split(s, training, rng) for s in samples]
    kept = [train for train, _ in splits]
    some = [
        _resampled(s, _thinned(rows, _of_this_process(_ROWS_FOR_SCALING), rng), rng)
        for s, rows in zip(samples, kept, strict=True)
    ]
    scaling = rule.fitted(*map(pooled, some))
    in_hand = _of_this_process(_ROWS_IN_HAND)
    raw = [pooled(x[rng.permutation(x.shape[0])[:in_hand]]) for x in some]
    held = [
        scaling(pooled(_resampled(s, held, rng)))
        for s, (_, held) in zip(samples, splits, strict=True)
    ]
    source, gaussians = _trained_on(samples, kept, scaling)
    return _prepared(source, scaling, held, raw, gaussians)


def _of_this_process(rows: int) -> int:
    """How many rows to take here for so many of all."""
    devices = current_devices()
    return max(int(rows * devices.share), 1) if devices.own_rows else rows


def _prepared(
    source: Source,
    scaling: Scaling,
    held: list[np.ndarray],
    raw: list[np.ndarray],
    gaussians: list[Gaussian],
) -> Prepared:
    return Prepared(
        source,
        scaling,
        held_0=held[0],
        held_1=held[1],
        rows_0=scaling(raw[0]),
        rows_1=scaling(raw[1]),
        raw_0=raw[0][:_ROWS_AS_THEY_CAME],
        raw_1=raw[1][:_ROWS_AS_THEY_CAME],
        gaussian_0=gaussians[0],
        gaussian_1=gaussians[1],
    )


def _split(
    sample: Sample, training: Training, rng: np.random.Generator
) -> tuple[RowNumbers, Int[np.ndarray, " b"]]:
    """Row numbers to train on and to hold out; rows of weight 0 are in neither."""
    n = sample.rows.shape[0]
    weighty = None if sample.weights is None else np.flatnonzero(sample.weights > 0.0)
    n_rows = n if weighty is None else weighty.size
    if n_rows == 1:  # all the weight on one row, which is then as good as many copies of it
        only = np.zeros(1, dtype=np.int64) if weighty is None else weighty
        return only, only
    most = min(_of_this_process(training.validation_rows), n_rows - 1)
    n_held = int(np.clip(round(training.validation_share * n_rows), 1, most))
    held = rng.choice(n_rows, size=n_held, replace=False)
    if weighty is None:  # no list of all rows: the numbers of a billion are 8 GB
        return AllBut(n, np.sort(held)), held
    return np.delete(weighty, held), weighty[held]


def _thinned(rows: RowNumbers, most: int, rng: np.random.Generator) -> Int[np.ndarray, " m"]:
    if rows.size <= most:
        return rows[np.arange(rows.size)]
    return rows[np.sort(rng.choice(rows.size, size=most, replace=False))]


def _resampled(
    sample: Sample, rows: Int[np.ndarray, " n"], rng: np.random.Generator
) -> Float[np.ndarray, "n d"]:
    """These rows; with weights, as many drawn from them in proportion, so equal weights do."""
    if sample.weights is not None:
        share = sample.weights[rows]
        rows = rng.choice(rows, size=rows.size, p=share / share.sum())
    return np.asarray(sample.rows[rows])


def rows_for_scaling(sample: Sample, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    """Enough raw rows of a sample to fit a scaling to, drawn in proportion to their weights."""
    every = AllBut(sample.rows.shape[0], np.zeros(0, dtype=np.int64))
    return _resampled(sample, _thinned(every, _ROWS_FOR_SCALING, rng), rng)


def _trained_on(
    samples: tuple[Sample, Sample], kept: list[RowNumbers], scaling: Scaling
) -> tuple[Source, list[Gaussian]]:
    """Where batches come from, and the moments of the rows they are drawn from."""
    pairs = list(zip(samples, kept, strict=True))
    weights = [_weights(s, rows) for s, rows in pairs]
    shares = [_shares(w) for w in weights]
    if current_devices().own_rows or any(isinstance(s.rows, np.memmap) for s in samples):
        zero, one = (s.rows for s in samples)
        mapped = MappedSource(zero, one, kept[0], kept[1], scaling, shares[0], shares[1])
        blocks = [_read(s, rows, scaling) for s, rows in pairs]
        return mapped, [Gaussian.of(x, w) for x, w in zip(blocks, weights, strict=True)]
    scaled = [scaling(s.rows[rows[np.arange(rows.size)]]) for s, rows in pairs]
    source = ArraySource(*(Weighted.padded(x, w) for x, w in zip(scaled, shares, strict=True)))
    cut = [np.array_split(x, -(-len(x) // _BLOCK)) for x in scaled]
    return source, [Gaussian.of(x, w) for x, w in zip(cut, weights, strict=True)]


def _read(sample: Sample, rows: RowNumbers, scaling: Scaling) -> Iterator[Float[np.ndarray, "m d"]]:
    """Scaled rows, a block at a time, for those that do not fit in memory."""
    for start in range(0, rows.size, _BLOCK):
        check_whole(sample.rows)
        places = np.arange(start, min(start + _BLOCK, rows.size))
        yield scaling(sample.rows[rows[places]])


def _weights(sample: Sample, rows: RowNumbers) -> Float[np.ndarray, " n"] | None:
    if sample.weights is None:
        return None
    return sample.weights[rows[np.arange(rows.size)]]


def _shares(weights: Float[np.ndarray, " n"] | None) -> Float[np.ndarray, " n"] | None:
    """Cumulative weights as shares of their sum: weights of any size, 1e-60 too, fit float32."""
    if weights is None:
        return None
    cumulative = np.cumsum(weights)
    return cumulative / cumulative[-1]


def from_sampler(sampler: Sampler, rule: ScalingRule, training: Training, seed: int) -> Prepared:
    """Prepare a JAX-traceable sampler (key, n) → (x_0, x_1) of fresh rows."""
    key_scaling, key_held, key_moments = jax.random.split(jax.random.key(seed), 3)
    # A sampler's rows are free: a fifth of the usual thinning is plenty for means and quantiles.
    rows = [np.asarray(x) for x in sampler(key_scaling, _ROWS_FOR_SCALING // 5)]
    scaling = rule.fitted(*rows)
    held = [scaling(np.asarray(x)) for x in sampler(key_held, training.validation_rows)]
    source = SamplerSource(sampler, scaling.traced)
    # As many rows as training will see: moments are then no worse, and no dearer, than the rest.
    n_rows = min(training.steps * training.batch_size, _MOST_ROWS_FOR_MOMENTS)
    gaussians = _sampled_gaussians(source, n_rows, key_moments)
    return _prepared(source, scaling, held, [x[:_ROWS_IN_HAND] for x in rows], gaussians)


def _sampled_gaussians(source: SamplerSource, n_rows: int, key: PRNGKeyArray) -> list[Gaussian]:
    n_blocks = -(-n_rows // _BLOCK)

    @jax.jit
    def sums(key: PRNGKeyArray) -> list[tuple[Array, Array]]:
        pair = source.draw(key, _BLOCK, jnp.zeros((), dtype=jnp.int32))
        return [(jnp.mean(x, axis=0), x.T @ x / _BLOCK) for x in pair]

    blocks = [
        jax.tree.map(lambda a: np.asarray(a, dtype=np.float64), sums(k))
        for k in jax.random.split(key, n_blocks)
    ]
    return [
        Gaussian.shrunk(
            np.mean([b[i][0] for b in blocks], axis=0),
            np.mean([b[i][1] for b in blocks], axis=0),
            n_blocks * _BLOCK,
        )
        for i in (0, 1)
    ]


def paired_rows(
    x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"], times: int = 1
) -> tuple[Float[Array, "k d"], Float[Array, "k d"]]:
    """Rows of both samples in random pairs, `times` times over, and more often if there are few.

    The same pairs for every fit, so that scores can be compared.
    """
    rng = np.random.default_rng(0)
    n = times * max(_FEWEST_PAIRS, x_0.shape[0], x_1.shape[0])
    first, second = (jnp.asarray(_cycled(x, n, rng)) for x in (x_0, x_1))
    return first, second


def _cycled(
    x: Float[np.ndarray, "n d"], n: int, rng: np.random.Generator
) -> Float[np.ndarray, "m d"]:
    """n rows that use every row equally often, in random order."""
    index = np.resize(np.arange(x.shape[0]), n)
    return x[rng.permutation(index)]
