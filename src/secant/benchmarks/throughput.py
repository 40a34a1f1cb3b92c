"""Throughput: our training step against its bare matrix products and against eager PyTorch.

Ratios measured in one run; absolute times belong to the machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.benchmarks.rows import machine
from secant.curricula import FullIntervals
from secant.models import ResidualMLP, SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.targets import TangentVelocity
from secant.time_samplers import Uniform
from secant.training import Training
from secant.training.sources import ArraySource, Weighted
from secant.training.state import TrainingState, split
from secant.training.step import Objective, Run, run_steps

__all__ = ["run_throughput"]

_ORDER, _DEPTH, _ROWS = 12, 2, 20_000


def run_throughput(results: Path, repeats: int = 5) -> None:
    """Measure every case and append a row for each."""
    results.parent.mkdir(parents=True, exist_ok=True)
    for width, batch, d in ((256, 512, 40), (384, 512, 160), (512, 512, 63)):
        row = _measured(width, batch, d, repeats)
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def _measured(width: int, batch: int, d: int, repeats: int) -> dict[str, object]:
    """The best of interleaved repeats: a disturbance must not fall on one side only."""
    sides: dict[str, Callable[[], float]] = {
        "step": _our_step(width, batch, d),
        "bare": _bare_products(width, batch, d),
    }
    torch_step = _torch_step(width, batch, d)
    if torch_step is not None:
        sides["torch"] = torch_step
    rounds = [{name: side() for name, side in sides.items()} for _ in range(repeats)]
    times = {name: min(r[name] for r in rounds) for name in sides}
    row: dict[str, object] = {
        "width": width,
        "batch": batch,
        "n_features": d,
        "step_ms": 1e3 * times["step"],
        "bare_over_step": times["bare"] / times["step"],
        "torch_over_step": times["torch"] / times["step"] if "torch" in times else None,
        "machine": machine(),
    }
    return row


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
    run = Run(rest, ArraySource(rows[0], rows[1]), objective, training)
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
    from secant.benchmarks.torch_peer import velocity_step

    step = velocity_step(torch, width=width, depth=_DEPTH, order=_ORDER, batch=batch, d=d)
    for _ in range(5):
        step()

    def timed() -> float:
        began = time.perf_counter()
        for _ in range(n):
            step()
        return (time.perf_counter() - began) / n

    return timed
