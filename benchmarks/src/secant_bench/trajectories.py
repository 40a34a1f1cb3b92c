"""Variances of secants and tangents over times at fixed rows, and the low-variance theorem.

For a row x, l ≤ t and τ ~ U[l, t], the low-variance theorem says Var u(x, l, t) ≤ Var s(x, τ).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from secant.curricula import ContractionIntervalAnnealing
from secant.datasets import Pair, gaussian_pair
from secant.estimators import SecantRatio
from secant.models import ResidualMLP, SpectralSecant
from secant.models.anchor import GaussianAnchor
from secant.paths import DiffusionInterpolant
from secant.training import Training
from secant_bench.benchmark import Outcome
from secant_bench.budgets import Budget
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine
from secant_bench.suites.shared import FROM_NORMAL, isadre

__all__ = ["SHOWN_ROWS", "SHOWN_TIMES", "TrajectoryRow", "TrajectorySuite", "trajectories"]

_ROWS, _INTERVALS = 500, 400
SHOWN_ROWS, SHOWN_TIMES = 40, 101
_MEAN, _SCALE = 2.0, 0.3

Rows = Float[Array, "n d"]
Values = Float[Array, " n"]


class Secants(Protocol):
    """u(x, l, t) and s(x, t), row by row."""

    def secant(self, x: Rows, l: Values, t: Values) -> Values:
        """(log p_t(x) − log p_l(x)) / (t − l)."""

    def time_score(self, x: Rows, t: Values) -> Values:
        """∂_t log p_t(x)."""


@dataclass(frozen=True)
class TrajectoryRow(Run):
    """Variances over times at fixed x, averaged over rows of p_1.

    `holds` is the share of rows at which the theorem's inequality holds.
    """

    variance_secant: float | None = None
    variance_tangent: float | None = None
    ratio: float | None = None
    holds: float | None = None
    seconds: float | None = None

    @property
    def numbers(self) -> str:
        """Both variances."""
        return (
            f"Var u {aligned(self.variance_secant)} Var s {aligned(self.variance_tangent)}"
            f" ratio {aligned(self.ratio)} holds {aligned(self.holds)} {aligned(self.seconds)} s"
        )


Method = Callable[[Pair, int], Secants]


@dataclass(frozen=True)
class TrajectorySuite(Product[Pair, Method]):
    """A pair × exact and learned secants."""

    def blank(self, job: Job) -> TrajectoryRow:
        """The row before the fit."""
        return TrajectoryRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Fit, measure both variances, and store some trajectories."""
        pair = self.task(job.task)
        began = time.perf_counter()
        found = self.methods[job.method](pair, job.seed)
        seconds = time.perf_counter() - began
        key_x, key_t = jax.random.split(jax.random.key(3_000_000 + job.seed))
        x = pair.draw_1(key_x, _ROWS)
        row = replace(_measured(self.blank(job), found, x, key_t), seconds=seconds)
        pictures = {f"{job.method}.npy": _shown(found, x[:SHOWN_ROWS])} if job.seed == 0 else {}
        return Outcome([replace(row, status="finished")], pictures)


def _measured(row: TrajectoryRow, found: Secants, x: Rows, key: PRNGKeyArray) -> TrajectoryRow:
    draws = jax.random.uniform(key, (3, _INTERVALS))
    l, t = jnp.sort(draws[:2], axis=0)
    tau = l + (t - l) * draws[2]
    n = x.shape[0]
    many = jnp.repeat(x, _INTERVALS, axis=0)
    u = eqx.filter_jit(found.secant)(many, jnp.tile(l, n), jnp.tile(t, n)).reshape(n, -1)
    s = eqx.filter_jit(found.time_score)(many, jnp.tile(tau, n)).reshape(n, -1)
    of_secant, of_tangent = u.var(axis=1), s.var(axis=1)
    return replace(
        row,
        variance_secant=float(of_secant.mean()),
        variance_tangent=float(of_tangent.mean()),
        ratio=float(of_secant.mean() / of_tangent.mean()),
        holds=float((of_secant <= of_tangent).mean()),
    )


def _shown(found: Secants, x: Rows) -> np.ndarray:
    """u(x, 0, t) and s(x, t) for some rows: (2, rows, times)."""
    times = jnp.linspace(0.0, 1.0, SHOWN_TIMES)
    many, t = jnp.repeat(x, SHOWN_TIMES, axis=0), jnp.tile(times, x.shape[0])
    s = found.time_score(many, t)
    u = found.secant(many, jnp.zeros_like(t), t)
    both = jnp.stack([u, s]).reshape(2, x.shape[0], SHOWN_TIMES)
    return np.asarray(both, dtype=np.float32)


def trajectories(budget: Budget) -> TrajectorySuite:
    """N(0, 1) to N(2, 0.3²): exact, and by the two models of secants."""
    moments = (np.zeros(1), np.eye(1), np.full(1, _MEAN), np.full((1, 1), _SCALE**2))
    pair = gaussian_pair(*moments, name=f"N(0, 1) to N({_MEAN:g}, {_SCALE:g}²)")
    steps = budget.pick(3_000, 3_000, 20_000)
    methods: dict[str, Method] = {
        "exact": lambda pair, seed: GaussianAnchor.fitted(*moments, DiffusionInterpolant()),
        "SecantRatio": partial(_spectral, steps),
        "ISADRE": partial(_aligned, steps),
    }
    about = "secants against tangents: trajectories and variances"
    return TrajectorySuite("paper-secant-vs-tangent", about, (pair,), methods)


def _spectral(steps: int, pair: Pair, seed: int) -> Secants:
    # No anchor, because it would be exact here.
    model = SpectralSecant(trunk=ResidualMLP(128, depth=2))
    training = Training(steps=steps, patience=None)
    fit = SecantRatio(model, anchor=False, training=training, random_state=seed, **FROM_NORMAL)
    return fit.fit_sampler(pair.sample).model_


def _aligned(steps: int, pair: Pair, seed: int) -> Secants:
    fit = isadre(128, steps, ContractionIntervalAnnealing(), seed, **FROM_NORMAL)
    return fit.fit_sampler(pair.sample).model_
