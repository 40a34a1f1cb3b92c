"""Scoring: rows per second compared with the bare matrix products of the pass, and memory.

Ratios are measured in one run; absolute times depend on the machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.estimators import GaussianMoments, SecantRatio
from secant.models import ResidualMLP, SpectralSecant
from secant.training import Training
from secant_bench.benchmark import Outcome
from secant_bench.performance.fresh_process import bytes_grown, called_alone
from secant_bench.performance.timing import best_of_turns, seconds_each
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["ScoringRow", "ScoringSuite", "scoring"]

_ORDER, _DEPTH, _COLUMNS = 12, 2, 63
_BLOCK = 1024  # rows of one bare product: the fastest of 512, 1024, 2048 and 8192


@dataclass(frozen=True)
class ScoringRow(Run):
    """`log_ratio` of many rows: NumPy in, NumPy out.

    `bare_over_scoring` is the time of the matrix products of network and anchor alone, over the
    time of scoring; 1 would be the speed of the products. `memory_growth` is in bytes, beyond the
    rows.
    """

    width: int
    n_rows: int
    n_features: int
    rows_per_second: float | None = None
    bare_over_scoring: float | None = None
    memory_growth: int | None = None

    @property
    def numbers(self) -> str:
        """The speed, its ratio to that of the products, and the memory."""
        speed = "–" if self.rows_per_second is None else f"{self.rows_per_second:,.0f}"
        growth = "–" if self.memory_growth is None else f"{self.memory_growth / 1e6:.1f} MB"
        return f"{speed} rows/s, bare / scoring {aligned(self.bare_over_scoring)}, {growth} more"


@dataclass(frozen=True)
class _ScoringShape:
    width: int
    n_rows: int
    n_features: int = _COLUMNS

    @property
    def name(self) -> str:
        return f"width {self.width}, {self.n_rows:,} rows, d={self.n_features}"


@dataclass(frozen=True)
class ScoringSuite(Product[_ScoringShape, bool]):
    """Timed scoring of several shapes; the methods are with and without an anchor."""

    def blank(self, job: Job) -> ScoringRow:
        """The row before timing."""
        return ScoringRow(self.name, *job, **vars(self.task(job.task)), machine=machine())

    def run(self, job: Job) -> Outcome:
        """Time both sides alternately, then measure the memory."""
        return Outcome([_measured(self.blank(job), has_anchor=self.methods[job.method])])


def scoring() -> ScoringSuite:
    """Two widths, two numbers of rows, with an anchor and without."""
    shapes = tuple(_ScoringShape(width, n) for width in (256, 512) for n in (100_000, 1_000_000))
    about = "log_ratio of up to a million rows against its bare matrix products, and its memory"
    methods = {"network": False, "network and anchor": True}
    return ScoringSuite("performance-scoring", about, shapes, methods, n_seeds=1, alone=True)


def _measured(row: ScoringRow, *, has_anchor: bool) -> ScoringRow:
    model = _fitted(row.width, row.n_features, has_anchor=has_anchor)
    shape = (row.n_rows, row.n_features)
    x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    bare = _bare_products(row, has_anchor=has_anchor)
    model.log_ratio(x[:20_000])
    times = best_of_turns(
        {
            "scoring": lambda: seconds_each(lambda: model.log_ratio(x), 1),
            "bare": lambda: seconds_each(bare, 1),
        }
    )
    return replace(
        row,
        rows_per_second=row.n_rows / times["scoring"],
        bare_over_scoring=times["bare"] / times["scoring"],
        memory_growth=called_alone(_memory_growth, model, row.n_rows),
        status="finished",
    )


def _fitted(width: int, d: int, *, has_anchor: bool) -> SecantRatio:
    """A model of that shape after a few steps; training does not change the time."""
    rng = np.random.default_rng(0)
    ratio = SecantRatio(
        SpectralSecant(_ORDER, ResidualMLP(width, _DEPTH)),
        anchor=GaussianMoments() if has_anchor else False,
        training=Training(steps=10, batch_size=64, evaluate_every=10, validation_rows=500),
        progress=False,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about so short a training
        return ratio.fit_samples(rng.normal(size=(2000, d)), rng.normal(0.2, 1.2, (2000, d)))


def _bare_products(row: ScoringRow, *, has_anchor: bool) -> Callable[[], object]:
    """The matrix products of a pass alone, each with separate rows."""
    width, d = row.width, row.n_features
    shapes = [(d, width), *[(width, width)] * _DEPTH, (width, _ORDER)] + [(d, d)] * has_anchor
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> Float[Array, ...]:
        return jnp.asarray(rng.normal(size=shape), dtype=jnp.float32)

    operands = [(drawn(_BLOCK, i), drawn(i, o)) for i, o in shapes]
    products = jax.jit(lambda operands: [x @ weight for x, weight in operands])
    jax.block_until_ready(products(operands))

    def many() -> list[Array]:
        for _ in range(-(-row.n_rows // _BLOCK)):
            found: list[Array] = products(operands)
        return found

    return many


def _memory_growth(model: SecantRatio, n: int) -> int:
    """Bytes that scoring takes beyond the rows."""
    x = np.random.default_rng(0).standard_normal((n, model.n_features_in_), dtype=np.float32)
    model.log_ratio(x[:20_000])  # compile, and allocate its blocks
    return bytes_grown(lambda: model.log_ratio(x))
