"""The paper's Gaussian panels: error of mutual information against evaluations, by dimension."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from secant.benchmarks.budgets import Budget
from secant.benchmarks.suites.entries import ONE_PASS, Entry, Suite, by_random_state
from secant.benchmarks.suites.shared import FROM_NORMAL, by_steps, by_trapezoid
from secant.benchmarks.tasks import Task
from secant.datasets import block_gaussians
from secant.estimators import (
    CTSM,
    D3RE,
    ISADRE,
    DREInfinity,
    RatioEstimator,
    SecantRatio,
    Standardise,
)
from secant.integration import Rule
from secant.models import AlignedSecant, ResidualMLP, SpectralSecant, TangentNetwork
from secant.time_samplers import Uniform
from secant.training import Training

__all__ = ["suite"]

Method = tuple[Callable[..., RatioEstimator], tuple[Rule | None, ...]]

# Steps for each dimension: what fits an hour, and what DRE-∞ was given.
_SMALL = dict.fromkeys((40, 80, 120, 160), 1_000)
_PAPER = {40: 20_000, 80: 50_000, 120: 100_000, 160: 200_000}
_JUDGE_ROWS = 5_000  # of up to fifty evaluations each; more would cost more than the fits


def suite(budget: Budget) -> Suite:
    """Blocks of Gaussians of d/4 nats by every score-based method, the same trunk for all."""
    entries = [
        Entry(
            Task(block_gaussians(d), judge_rows=_JUDGE_ROWS),
            name,
            by_random_state(partial(make, training=Training(steps=steps, patience=None))),
            rules,
        )
        for d, steps in budget.pick(_SMALL, _PAPER).items()
        for name, (make, rules) in _methods(budget).items()
    ]
    about = "mutual information of Gaussians against evaluations, d = 40 to 160"
    return Suite("paper-gaussian-mi", about, tuple(entries))


def _methods(budget: Budget) -> dict[str, Method]:
    trunk = ResidualMLP(256, depth=budget.pick(2, 4))
    tangent, vectorised = TangentNetwork(trunk), TangentNetwork(trunk, vectorised=True)
    spectral = SpectralSecant(trunk=trunk)
    plain = partial(SecantRatio, spectral, anchor=False, scaling=Standardise())
    aligned = AlignedSecant(trunk, vectorised=True)
    return {
        "SecantRatio": (partial(SecantRatio, spectral), ONE_PASS),
        "SecantRatio, plain network": (plain, by_steps()),
        "ISADRE": (partial(ISADRE, aligned, time_sampler=Uniform(), **FROM_NORMAL), by_steps()),
        "DREInfinity": (partial(DREInfinity, tangent), by_trapezoid()),
        "D3RE": (partial(D3RE, tangent), by_trapezoid()),
        "CTSM": (partial(CTSM, tangent, vectorised=False), by_trapezoid()),
        "CTSM-v": (partial(CTSM, vectorised), by_trapezoid()),
    }
