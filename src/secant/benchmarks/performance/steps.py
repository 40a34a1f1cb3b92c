"""Throughput: our training step against its bare matrix products and against eager PyTorch.

Ratios measured in one run; absolute times belong to the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.benchmarks.benchmark import Outcome
from secant.benchmarks.products import Product
from secant.benchmarks.rows import Job, Run, aligned, machine
from secant.curricula import FullIntervals
from secant.models import ResidualMLP, SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.targets import TangentVelocity
from secant.time_samplers import Uniform
from secant.training import Training
from secant.training.sources import ArraySource, Weighted
from secant.training.state import TrainingState, split
from secant.training.step import Objective, run_steps
from secant.training.step import Run as Steps

__all__ = ["ThroughputRow", "ThroughputSuite", "throughput"]

_ORDER, _DEPTH, _ROWS = 12, 2, 20_000
_REPEATS = 5


@dataclass(frozen=True)
class ThroughputRow(Run):
    """Times of one step; ratios of times measured side by side."""

    width: int
    batch: int
    n_features: int
    step_ms: float | None = None
    bare_over_step: float | None = None
    torch_over_step: float | None = None

    @property
    def numbers(self) -> str:
        """The two ratios."""
        bare, torch = map(aligned, (self.bare_over_step, self.torch_over_step))
        return f"bare / step {bare} PyTorch / step {torch} {aligned(self.step_ms)} ms"


@dataclass(frozen=True)
class _Shape:
    width: int
    batch: int
    n_features: int

    @property
    def name(self) -> str:
        return f"width {self.width}, batch {self.batch}, d={self.n_features}"


@dataclass(frozen=True)
class ThroughputSuite(Product[_Shape, None]):
    """Shapes of a step, timed."""

    def blank(self, job: Job) -> ThroughputRow:
        """The row before anything is timed."""
        return ThroughputRow(self.name, *job, **vars(self.task(job.task)), machine=machine())

    def run(self, job: Job) -> Outcome:
        """Time all sides in turn."""
        return Outcome([_measured(self.blank(job))])


def throughput() -> ThroughputSuite:
    """Three shapes."""
    shapes = (_Shape(256, 512, 40), _Shape(384, 512, 160), _Shape(512, 512, 63))
    about = "a training step against its bare matrix products"
    return ThroughputSuite("throughput", about, shapes, {"secant": None}, n_seeds=1, alone=True)


def _measured(row: ThroughputRow) -> ThroughputRow:
    """The best of interleaved repeats: a disturbance must not fall on one side only."""
    shape = (row.width, row.batch, row.n_features)
    sides: dict[str, Callable[[], float]] = {
        "step": _our_step(*shape),
        "bare": _bare_products(*shape),
    }
    torch_step = _torch_step(*shape)
    if torch_step is not None:
        sides["torch"] = torch_step
    rounds = [{name: side() for name, side in sides.items()} for _ in range(_REPEATS)]
    times = {name: min(r[name] for r in rounds) for name in sides}
    return replace(
        row,
        step_ms=1e3 * times["step"],
        bare_over_step=times["bare"] / times["step"],
        torch_over_step=times["torch"] / times["step"] if "torch" in times else None,
        status="finished",
    )


def _seconds_each(run: Callable[[], object], n: int) -> float:
    began = time.perf_counter()
    jax.block_until_ready(run())
    return (time.perf_counter() - began) / n


def _our_step(width: int, batch: int, d: int, n: int = 100) -> Callable[[], float]:
    trunk = ResidualMLP(width, _DEPTH)
    model = SpectralSecant(_ORDER, trunk).build(d, key=jax.random.key(0))
    weights, rest = split(model)
    rng = np.random.default_rng(0)
    rows = [Weighted(jnp.asarray(rng.normal(size=(_ROWS, d)), dtype=jnp.float32)) for _ in "01"]
    objective = Objective(TangentVelocity(), DiffusionInterpolant(), Uniform(), FullIntervals())
    training = Training(steps=100_000, batch_size=batch)
    run = Steps(rest, ArraySource(rows[0], rows[1]), objective, training)
    state = TrainingState.start(weights, training, key=jax.random.key(1))

    def chunk() -> Float[Array, " n"]:
        nonlocal state
        state, losses = run_steps(run, state, n)
        return losses

    jax.block_until_ready(chunk())
    return lambda: _seconds_each(chunk, n)


def _bare_products(width: int, batch: int, d: int, n: int = 100) -> Callable[[], float]:
    """The matrix products of a step and nothing else, on operands of their shapes.

    For a layer (n_in, n_out): value and JVP forward, both cotangents back to the input, both
    shares of the weight's gradient; six products. The entry layer needs no cotangent for its input:
    four. Every product has operands of its own, so that none is found to be another.
    """
    shapes = [(d, width), *[(width, width)] * _DEPTH, (width, _ORDER)]
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> Float[Array, ...]:
        return jnp.asarray(rng.normal(size=shape), dtype=jnp.float32)

    operands = [(drawn(i, o), drawn(2, batch, i), drawn(2, batch, o)) for i, o in shapes]

    @jax.jit
    def products(operands: list[tuple[Array, Array, Array]]) -> list[Array]:
        found = []
        for number, (weight, inputs, cotangents) in enumerate(operands):
            for x, c in zip(inputs, cotangents, strict=True):
                found += [x @ weight, x.T @ c]
                if number > 0:
                    found.append(c @ weight.T)
        return found

    def many() -> list[Array]:
        for _ in range(n):
            found = products(operands)
        return found

    jax.block_until_ready(many())
    return lambda: _seconds_each(many, n)


def _torch_step(width: int, batch: int, d: int, n: int = 20) -> Callable[[], float] | None:
    """The same step in eager PyTorch, or None where torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    from secant.benchmarks.peers.torch_step import velocity_step

    step = velocity_step(torch, width=width, depth=_DEPTH, order=_ORDER, batch=batch, d=d)
    for _ in range(5):
        step()

    def timed() -> float:
        began = time.perf_counter()
        for _ in range(n):
            step()
        return (time.perf_counter() - began) / n

    return timed
