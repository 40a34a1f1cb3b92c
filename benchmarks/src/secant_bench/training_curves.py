"""Estimates during training, by curriculum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.curricula import Curriculum
from secant.datasets import Pair, additive_noise
from secant.estimators import ISADRE
from secant.integration import SecantSteps
from secant.models import AlignedSecant, ResidualMLP, SecantFunction
from secant.paths import Path
from secant.targets import Batch, ConditionalSecantAlignment, Target
from secant.time_samplers import Uniform
from secant.training import Training
from secant_bench.benchmark import Outcome
from secant_bench.budgets import Budget
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine
from secant_bench.suites.ablation import SUPERVISION

__all__ = ["CurveRow", "CurveSuite", "training_curves"]

_LOOKS, _EVALUATIONS = 40, 5


@dataclass(frozen=True)
class CurveRow(Run):
    """The mean log ratio over held-out rows of p_1 after a number of steps."""

    step: int = 0
    estimate: float | None = None
    truth: float | None = None

    @property
    def numbers(self) -> str:
        """The estimate."""
        return f"step {self.step} {aligned(self.estimate)} of {aligned(self.truth)}"


Method = Callable[[int], ISADRE]


@dataclass(frozen=True)
class CurveSuite(Product[Pair, Method]):
    """A pair × curricula, with one row per evaluation during training."""

    def blank(self, job: Job) -> CurveRow:
        """The row before the fit."""
        return CurveRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Fit once; return the estimate at every evaluation after the first step."""
        pair, fit = self.task(job.task), self.methods[job.method](job.seed)
        fit.fit_sampler(pair.sample)
        row = replace(self.blank(job), status="finished", truth=pair.kl)
        return Outcome(
            [replace(row, step=look.step, estimate=-look.held_out) for look in fit.history_[1:]]
        )


class _Watched(ConditionalSecantAlignment):
    """The paper's loss, with the estimate as held-out loss, so that the history records it."""

    @property
    def held_out(self) -> Target:
        return _MinusLogRatio()


class _MinusLogRatio(Target):
    """Minus the log ratio at rows of x_1."""

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        del path
        return -jnp.asarray(SecantSteps(_EVALUATIONS)(model, batch.x_1).value)

    def time_range(self, path: Path) -> tuple[float, float]:
        del path
        return 0.0, 1.0


def training_curves(budget: Budget) -> CurveSuite:
    """AdditiveNoise by interval annealing and by shares of tangents."""
    steps = budget.pick(400, 2_000, 30_000)
    methods = {name: partial(_fit, steps, how) for name, how in SUPERVISION.items()}
    about = "estimates during training on AdditiveNoise, by curriculum"
    return CurveSuite("paper-training", about, (additive_noise(0.1),), methods, n_seeds=3)


def _fit(steps: int, curriculum: Curriculum, seed: int) -> ISADRE:
    return ISADRE(
        AlignedSecant(ResidualMLP(128, depth=2), vectorised=True),
        target=_Watched(vectorised=True),
        time_sampler=Uniform(),
        curriculum=curriculum,
        n_steps=_EVALUATIONS,
        training=Training(steps=steps, patience=None, evaluate_every=steps // _LOOKS),
        random_state=seed,
    )
