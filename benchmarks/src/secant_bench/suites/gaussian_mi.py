"""The paper's Gaussian experiment: error of mutual information by evaluations and dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

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
from secant.models import (
    AlignedSecant,
    ModulatedMLP,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
)
from secant.sizing import modulated_trunk_for
from secant.training import Training
from secant_bench.budgets import Budget
from secant_bench.suites.entries import ONE_PASS, Entry, Suite, by_random_state
from secant_bench.suites.shared import by_steps, by_trapezoid
from secant_bench.tasks import Task

__all__ = ["suite"]

Method = tuple[Callable[..., RatioEstimator], tuple[Rule | None, ...]]

# Steps and batch for each dimension: a smoke test, minutes, and the budget of DRE-∞. The errors of
# many directions add up: at d = 160, 3,000 steps of 2,048 rows left ISADRE half the error of 6,000
# steps of 512.
_SMALL = dict.fromkeys((40, 80, 120, 160), (1_000, 512))
_STANDARD = {40: (3_000, 512), 80: (4_000, 512), 120: (4_000, 512), 160: (3_000, 2_048)}
_PAPER = {40: (20_000, 512), 80: (50_000, 512), 120: (100_000, 512), 160: (200_000, 512)}
_FIXED_ROWS = 300_000
_JUDGE_ROWS = 5_000  # with up to fifty evaluations each; more would cost more than the fits


def suite(budget: Budget) -> Suite:
    """Blocks of Gaussians of d/4 nats by every score-based method, the same trunk for all."""
    entries = [
        Entry(
            Task(block_gaussians(d), judge_rows=_JUDGE_ROWS),
            name,
            by_random_state(partial(make, training=Training(steps, batch, patience=None))),
            rules,
        )
        for d, (steps, batch) in budget.pick(_SMALL, _STANDARD, _PAPER).items()
        for name, (make, rules) in _methods(budget, d).items()
    ]
    fixed = Task(block_gaussians(160), _FIXED_ROWS, judge_rows=_JUDGE_ROWS)
    entries.append(Entry(fixed, "ISADRE, as it comes", by_random_state(ISADRE), by_steps()))
    about = "mutual information of Gaussians against evaluations, d = 40 to 160"
    return Suite("paper-gaussian-mi", about, tuple(entries), version=2)


def _methods(budget: Budget, d: int) -> dict[str, Method]:
    default = modulated_trunk_for(math.inf, d)
    width, depth = default.width, budget.pick(2, default.depth, 4)
    trunk = ResidualMLP(width, depth)
    tangent, vectorised = TangentNetwork(trunk), TangentNetwork(trunk, vectorised=True)
    spectral = SpectralSecant(trunk=trunk)
    plain = partial(SecantRatio, spectral, anchor=False, scaling=Standardise())
    aligned = AlignedSecant(ModulatedMLP(width, depth), order=8)
    literal = partial(ISADRE.paper, model=AlignedSecant(trunk))
    return {
        "SecantRatio": (partial(SecantRatio, spectral), ONE_PASS),
        "SecantRatio, plain network": (plain, by_steps()),
        "ISADRE": (partial(ISADRE, aligned), by_steps()),
        "ISADRE, the paper's parts": (literal, by_steps()),
        "DREInfinity": (partial(DREInfinity, tangent), by_trapezoid()),
        "D3RE": (partial(D3RE, tangent), by_trapezoid()),
        "CTSM": (partial(CTSM, tangent, vectorised=False), by_trapezoid()),
        "CTSM-v": (partial(CTSM, vectorised), by_trapezoid()),
    }
