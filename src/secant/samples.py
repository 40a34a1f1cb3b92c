"""Preparation of two samples for training: scaled rows, held-out rows, moments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from secant.gaussians import Gaussian
from secant.paths import Moments
from secant.scaling import Scaling, ScalingRule
from secant.training.devices import check_even, current_devices, pooled
from secant.training.settings import Training
from secant.training.sources import (
    AllBut,
    ArraySource,
    MappedSource,
    RowNumbers,
    SamplerSource,
    Source,
    Weighted,
    check_whole,
)

Sampler = Callable[[PRNGKeyArray, int], tuple[Float[Array, "n d"], Float[Array, "n d"]]]

_ROWS_FOR_SCALING = 100_000
_ROWS_IN_HAND = 20_000
_ROWS_AS_THEY_CAME = 10_000
_MOST_ROWS_FOR_MOMENTS = 2_000_000
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Sample:
    """Raw rows of one sample, in memory or on disk, with optional weights."""

    rows: np.ndarray
    weights: Float[np.ndarray, " n"] | None = None

    @property
    def mass(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.rows.shape[0] if self.weights is None else self.weights.sum())

    def taken(self, rows: Int[np.ndarray, " k"]) -> Sample:
        """Some of the rows with their weights, in memory."""
        weights = None if self.weights is None else self.weights[rows]
        return Sample(np.asarray(self.rows[rows]), weights)


Samples = tuple[Sample, Sample] | Sampler


@dataclass(frozen=True)
class Prepared:
    """Everything about the data that training and diagnostics use, in scaled coordinates.

    The three parts of the rows are disjoint: training rows fit the weights, held-out rows select
    the state that is kept and the size of the anchor, and report rows are used for diagnostics.
    """

    source: Source
    scaling: Scaling
    held_0: Float[np.ndarray, "m d"]
    held_1: Float[np.ndarray, "m d"]
    report_0: Float[np.ndarray, "m d"]
    report_1: Float[np.ndarray, "m d"]
    rows_0: Float[np.ndarray, "k d"]  # some of the training rows, for fits in memory
    rows_1: Float[np.ndarray, "k d"]
    raw_0: Float[np.ndarray, "j d"]  # a few rows before scaling
    raw_1: Float[np.ndarray, "j d"]
    gaussian_0: Gaussian
    gaussian_1: Gaussian

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.held_0.shape[1]

    @property
    def moments(self) -> Moments:
        """Moments of the two samples, for the mean variance of the conditional time score."""
        cross = self.gaussian_0.mean @ self.gaussian_1.mean
        # Arrays, because plain numbers would be compiled into the program.
        numbers = np.asarray([self.gaussian_0.square, self.gaussian_1.square, cross], np.float32)
        return Moments(*jax.device_put([*numbers]))


def prepared(samples: Samples, rule: ScalingRule, training: Training, seed: int) -> Prepared:
    """Scale two samples, or the rows of a sampler, and hold some out."""
    if callable(samples):
        return _from_sampler(samples, rule, training, seed)
    return _from_samples(*samples, rule, training, seed)


def _from_samples(
    sample_0: Sample, sample_1: Sample, rule: ScalingRule, training: Training, seed: int
) -> Prepared:
    """Prepare two arrays, in memory or memory-mapped.

    The scaling and the moments of the anchor use the training rows and the held-out rows.

    If every process has its own rows, they are pooled, as many as one process would use, so that
    all processes get the same scaling, held-out rows and moments.
    """
    rng = np.random.default_rng(seed)
    samples = (sample_0, sample_1)
    check_even([s.mass for s in samples], sample_0.rows.shape[1])
    splits = [_split(s, training, rng) for s in samples]

    def some(rows: Sequence[RowNumbers], most: int | None = None) -> list[np.ndarray]:
        thinned = (r if most is None else _thinned(r, _of_this_process(most), rng) for r in rows)
        return [
            pooled(_resampled(s, r[np.arange(r.size)], rng))
            for s, r in zip(samples, thinned, strict=True)
        ]

    scaling = rule.fitted(*some([split.seen for split in splits], _ROWS_FOR_SCALING))
    raw = some([split.train for split in splits], _ROWS_IN_HAND)
    held = some([split.held for split in splits])
    report = some([split.report for split in splits])
    source, gaussians = _trained_on(samples, splits, scaling)
    return _prepared(source, scaling, (*held, *report), raw, gaussians)


def _of_this_process(rows: int) -> int:
    """The number of rows to use in this process, for a total over all processes."""
    devices = current_devices()
    return max(int(rows * devices.share), 1) if devices.own_rows else rows


def _prepared(
    source: Source,
    scaling: Scaling,
    held: Sequence[np.ndarray],
    raw: Sequence[np.ndarray],
    gaussians: Sequence[Gaussian],
) -> Prepared:
    """Scale the held-out and report rows of the two samples, and some training rows."""
    held_0, held_1, report_0, report_1 = map(scaling, held)
    return Prepared(
        source,
        scaling,
        held_0=held_0,
        held_1=held_1,
        report_0=report_0,
        report_1=report_1,
        rows_0=scaling(raw[0]),
        rows_1=scaling(raw[1]),
        raw_0=raw[0][:_ROWS_AS_THEY_CAME],
        raw_1=raw[1][:_ROWS_AS_THEY_CAME],
        gaussian_0=gaussians[0],
        gaussian_1=gaussians[1],
    )


class _Split(NamedTuple):
    """Row numbers of one sample.

    Attributes:
        train: rows from which batches are drawn.
        held: held-out rows, for model selection.
        report: rows for diagnostics.
        seen: `train` and `held`.
    """

    train: RowNumbers
    held: Int[np.ndarray, " b"]
    report: Int[np.ndarray, " b"]
    seen: RowNumbers


def _split(sample: Sample, training: Training, rng: np.random.Generator) -> _Split:
    """Split the rows into training, held-out and report rows; rows of weight 0 are in none.

    With two rows, the held-out row is also the report row; one row is used for all three.
    """
    n = sample.rows.shape[0]
    weighty = None if sample.weights is None else np.flatnonzero(sample.weights > 0.0)
    n_rows = n if weighty is None else weighty.size
    if n_rows == 1:  # all the weight is on one row
        only = np.zeros(1, dtype=np.int64) if weighty is None else weighty
        return _Split(only, only, only, only)
    most = min(_of_this_process(training.validation_rows), max((n_rows - 1) // 2, 1))
    n_held = int(np.clip(round(training.validation_share * n_rows), 1, most))
    n_out = min(2 * n_held, n_rows - 1)
    out = rng.choice(n_rows, size=n_out, replace=False)
    held, report = out[:n_held], out[-n_held:]
    if weighty is None:  # no list of all rows, which takes 8 GB for a billion
        return _Split(AllBut(n, np.sort(out)), held, report, AllBut(n, np.sort(report)))
    train, seen = np.delete(weighty, out), np.delete(weighty, report)
    return _Split(train, weighty[held], weighty[report], seen)


def _thinned(rows: RowNumbers, most: int, rng: np.random.Generator) -> Int[np.ndarray, " m"]:
    if rows.size <= most:
        return rows[np.arange(rows.size)]
    return rows[np.sort(rng.choice(rows.size, size=most, replace=False))]


def _resampled(
    sample: Sample, rows: Int[np.ndarray, " n"], rng: np.random.Generator
) -> Float[np.ndarray, "n d"]:
    """These rows; with weights, as many resampled in proportion to them."""
    if sample.weights is not None:
        share = sample.weights[rows]
        rows = rng.choice(rows, size=rows.size, p=share / share.sum())
    return np.asarray(sample.rows[rows])


def rows_for_scaling(sample: Sample, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    """Raw rows of a sample to fit a scaling, drawn in proportion to their weights."""
    every = AllBut(sample.rows.shape[0], np.zeros(0, dtype=np.int64))
    return _resampled(sample, _thinned(every, _ROWS_FOR_SCALING, rng), rng)


def _trained_on(
    samples: tuple[Sample, Sample], splits: Sequence[_Split], scaling: Scaling
) -> tuple[Source, list[Gaussian]]:
    """The source of batches, and the moments of training and held-out rows."""
    pairs = list(zip(samples, splits, strict=True))
    gaussians = [
        Gaussian.of(_read(s, split.seen, scaling), _weights(s, split.seen)) for s, split in pairs
    ]
    (zero, one), (first, second) = (s.rows for s in samples), (split.train for split in splits)
    shares = [_shares(_weights(s, split.train)) for s, split in pairs]
    if current_devices().own_rows or any(isinstance(s.rows, np.memmap) for s in samples):
        return MappedSource(zero, one, first, second, scaling, shares[0], shares[1]), gaussians
    scaled = [scaling(s.rows[rows.train[np.arange(rows.train.size)]]) for s, rows in pairs]
    return ArraySource(*map(Weighted.padded, scaled, shares)), gaussians


def _read(sample: Sample, rows: RowNumbers, scaling: Scaling) -> Iterator[Float[np.ndarray, "m d"]]:
    """Scaled rows in blocks, which need not fit in memory together."""
    for start in range(0, rows.size, _BLOCK):
        check_whole(sample.rows)
        places = np.arange(start, min(start + _BLOCK, rows.size))
        yield scaling(sample.rows[rows[places]])


def _weights(sample: Sample, rows: RowNumbers) -> Float[np.ndarray, " n"] | None:
    if sample.weights is None:
        return None
    return sample.weights[rows[np.arange(rows.size)]]


def _shares(weights: Float[np.ndarray, " n"] | None) -> Float[np.ndarray, " n"] | None:
    """Cumulative weights as shares of their sum, which fit float32 for weights of any size."""
    if weights is None:
        return None
    cumulative = np.cumsum(weights)
    return cumulative / cumulative[-1]


def _from_sampler(sampler: Sampler, rule: ScalingRule, training: Training, seed: int) -> Prepared:
    """Prepare a JAX-traceable sampler (key, n) → (x_0, x_1) of fresh rows."""
    key_scaling, key_held, key_report, key_moments = jax.random.split(jax.random.key(seed), 4)
    # A fifth of the usual number of rows is enough for means and quantiles.
    rows = [np.asarray(x) for x in sampler(key_scaling, _ROWS_FOR_SCALING // 5)]
    scaling = rule.fitted(*rows)
    held = [
        np.asarray(x)
        for key in (key_held, key_report)
        for x in sampler(key, training.validation_rows)
    ]
    source = SamplerSource(sampler, scaling.traced)
    # As many rows as training will use.
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
