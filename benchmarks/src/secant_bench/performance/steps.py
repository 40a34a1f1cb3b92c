"""Our training step compared with its bare matrix products and with eager PyTorch.

Ratios are measured in one run; absolute times depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from secant.curricula import FullIntervals
from secant.models import ResidualMLP, SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.targets import TangentVelocity
from secant.time_samplers import Uniform
from secant.training import Training
from secant.training.sources import ArraySource, Weighted
from secant.training.step import Objective, Pace, Steps, run_steps, split, started
from secant_bench.benchmark import Outcome
from secant_bench.performance.timing import best_of_turns, seconds_each
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["StepRow", "StepSuite", "steps"]

_ORDER, _DEPTH, _ROWS = 12, 2, 20_000
_WORK = 100 * 512 * 256  # batch × width × steps that are timed together


@dataclass(frozen=True)
class StepRow(Run):
    """Times of one step; ratios of times measured side by side.

    `bfloat_over_bare` is the time of the bare products in bfloat16 over that in float32.
    """

    width: int
    batch: int
    n_features: int
    step_ms: float | None = None
    bare_over_step: float | None = None
    torch_over_step: float | None = None
    bfloat_over_bare: float | None = None

    @property
    def numbers(self) -> str:
        """The ratios."""
        ratios = (self.bare_over_step, self.torch_over_step, self.bfloat_over_bare)
        bare, torch, bfloat = map(aligned, ratios)
        return (
            f"bare / step {bare} PyTorch / step {torch} bfloat16 / float32 {bfloat} "
            f"{aligned(self.step_ms)} ms"
        )


@dataclass(frozen=True)
class _StepShape:
    width: int
    batch: int
    n_features: int

    @property
    def name(self) -> str:
        return f"width {self.width}, batch {self.batch}, d={self.n_features}"


@dataclass(frozen=True)
class StepSuite(Product[_StepShape, None]):
    """Timed steps of several shapes."""

    def blank(self, job: Job) -> StepRow:
        """The row before timing."""
        return StepRow(self.name, *job, **vars(self.task(job.task)), machine=machine())

    def run(self, job: Job) -> Outcome:
        """Time all sides alternately."""
        return Outcome([_measured(self.blank(job))])


def steps() -> StepSuite:
    """Two widths, two batches and three numbers of columns."""
    shapes = tuple(_StepShape(*s) for s in product((256, 512), (512, 4096), (6, 63, 160)))
    about = "a training step against its bare matrix products and eager PyTorch"
    return StepSuite("performance-step", about, shapes, {"secant": None}, n_seeds=3, alone=True)


def _measured(row: StepRow) -> StepRow:
    shape = (row.width, row.batch, row.n_features)
    n = max(_WORK // (row.batch * row.width), 5)
    sides = {
        "step": _our_step(*shape, n),
        "bare": _bare_products(*shape, n),
        "bfloat": _bare_products(*shape, max(n // 5, 2), jnp.bfloat16),
    }
    torch_step = _torch_step(*shape, max(n // 5, 2))
    if torch_step is not None:
        sides["torch"] = torch_step
    times = best_of_turns(sides)
    return replace(
        row,
        step_ms=1e3 * times["step"],
        bare_over_step=times["bare"] / times["step"],
        torch_over_step=times["torch"] / times["step"] if "torch" in times else None,
        bfloat_over_bare=times["bfloat"] / times["bare"],
        status="finished",
    )


def _our_step(width: int, batch: int, d: int, n: int) -> Callable[[], float]:
    trunk = ResidualMLP(width, _DEPTH)
    model = SpectralSecant(_ORDER, trunk).build(d, key=jax.random.key(0))
    weights, rest = split(model)
    rng = np.random.default_rng(0)
    rows = [Weighted(jnp.asarray(rng.normal(size=(_ROWS, d)), dtype=jnp.float32)) for _ in "01"]
    objective = Objective(TangentVelocity(), DiffusionInterpolant(), Uniform(), FullIntervals())
    pace = Pace.of(Training(steps=100_000))
    steps = Steps(rest, ArraySource(rows[0], rows[1]), objective, pace, batch_size=batch)
    state = started(weights, steps.optimiser, pace, jax.random.key_data(jax.random.key(1)))
    number = jnp.asarray(n, dtype=jnp.int32)

    def chunk() -> Float[Array, ""]:
        nonlocal state
        state, loss = run_steps(steps, state, number)
        return loss

    jax.block_until_ready(chunk())
    return lambda: seconds_each(chunk, n)


def _bare_products(
    width: int, batch: int, d: int, n: int, dtype: DTypeLike = jnp.float32
) -> Callable[[], float]:
    """The matrix products of a step alone, on operands of the same shapes.

    A layer (n_in, n_out) has six products: value and JVP forward, both cotangents back to the
    input, both shares of the weight's gradient. The entry layer has four, because its input needs
    no cotangent. Every product has its own operands, so that the compiler cannot merge any.
    """
    shapes = [(d, width), *[(width, width)] * _DEPTH, (width, _ORDER)]
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> Float[Array, ...]:
        return jnp.asarray(rng.normal(size=shape), dtype=dtype)

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
    return lambda: seconds_each(many, n)


def _torch_step(width: int, batch: int, d: int, n: int) -> Callable[[], float] | None:
    """The same step in eager PyTorch, or None where torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    from secant_bench.peers.torch_step import velocity_step

    step = velocity_step(torch, width=width, depth=_DEPTH, order=_ORDER, batch=batch, d=d)

    def many() -> None:
        for _ in range(n):
            step()

    many()
    return lambda: seconds_each(many, n)
