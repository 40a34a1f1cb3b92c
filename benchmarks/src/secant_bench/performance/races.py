"""Time to accuracy: one nat of d/4 nats in 160 dimensions, and −0.2 on a real table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache, partial

import jax
import numpy as np
from jaxtyping import Float

from secant.bases import BaseRule, Copula, FullGaussian, Growth, Mixture
from secant.datasets import block_gaussians
from secant.diagnostics import log_normaliser
from secant.estimators import (
    CTSM,
    ISADRE,
    ClassifierRatio,
    DREInfinity,
    Identity,
    SecantRatio,
    Standardise,
)
from secant.exceptions import OverlapWarning
from secant.models import (
    AlignedSecant,
    FourierMLP,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
)
from secant.paths import DiffusionBridge
from secant.training import Training
from secant_bench.benchmark import Skipped
from secant_bench.density.tasks import Split, power_task
from secant_bench.peers import TorchCTSM, TorchDREInfinity
from secant_bench.performance.ladders import Climb, Goal, Ladders, Rung
from secant_bench.suites.shared import CONDITIONAL, FROM_NORMAL
from secant_bench.tasks import Ratio, Task

__all__ = ["MakeWithSteps", "races", "to_information", "warm_up", "with_steps"]

MakeWithSteps = Callable[..., Ratio]  # steps and random_state → estimator

_WIDTH = 256
_GROWTH = Growth(max_components=64)  # the default's 2,048 pay off only in longer fits
# Time limit of other methods, more than ten times what ours needs.
_INFORMATION = Goal("Gaussians, d=160", 1.0, seconds=120.0)
_TABLE = Goal("POWER", -0.2, seconds=170.0)
_ROWS_FOR_NORMALISER = 50_000
_ROWS_TO_JUDGE = 50_000
_ROWS_FOR_RATIO = 300_000  # of the table and of the base: so short a training uses no more


def races() -> Ladders:
    """Our method and others, in this library and in eager PyTorch."""
    gaussians = [to_information(_INFORMATION, 160, *entry) for entry in _on_gaussians().items()]
    table = [
        Climb(_TABLE, name, partial(_rung_on_power, *parts)) for name, parts in _on_power().items()
    ]
    about = "seconds to one nat of 40 in 160 dimensions, and to −0.2 on POWER"
    return Ladders("performance-accuracy", about, (*gaussians, *table), warm_up)


@cache
def warm_up() -> None:
    """A fit of one step by a method that is not compared."""
    make = with_steps(partial(ClassifierRatio, trunk=ResidualMLP(8)))
    _rung_on_gaussians(Task(block_gaussians(160)), make, steps=1, seed=0)


def to_information(goal: Goal, d: int, name: str, make: MakeWithSteps) -> Climb:
    """Fits to block Gaussians of d/4 nats in d dimensions, with errors on fresh rows."""
    return Climb(goal, name, partial(_rung_on_gaussians, Task(block_gaussians(d)), make))


def with_steps(make: Callable[..., Ratio]) -> MakeWithSteps:
    """A function that builds an estimator with a parameter `training`."""

    def made(steps: int, random_state: int) -> Ratio:
        return make(training=Training(steps=steps, patience=None), random_state=random_state)

    return made


def _on_gaussians() -> dict[str, MakeWithSteps]:
    trunk = ResidualMLP(_WIDTH)
    spectral, tangent = SpectralSecant(trunk=trunk), TangentNetwork(trunk)
    aligned = AlignedSecant(trunk, vectorised=True)
    plain = partial(SecantRatio, spectral, anchor=False, scaling=Standardise())
    ours: dict[str, Callable[..., Ratio]] = {
        "SecantRatio": partial(SecantRatio, spectral),
        "SecantRatio, plain network": plain,
        "ISADRE": partial(ISADRE, aligned, **CONDITIONAL, **FROM_NORMAL),
        "CTSM": partial(CTSM, tangent, vectorised=False),
        "CTSM-v": partial(CTSM, TangentNetwork(trunk, vectorised=True)),
        "DREInfinity": partial(DREInfinity, tangent),
    }
    return {**{name: with_steps(make) for name, make in ours.items()}, **_eager()}


def _eager() -> dict[str, MakeWithSteps]:
    return {
        "CTSM, eager PyTorch": partial(TorchCTSM, width=_WIDTH),
        "DRE-∞, eager PyTorch": partial(TorchDREInfinity, width=_WIDTH),
    }


def _on_power() -> dict[str, tuple[BaseRule, MakeWithSteps]]:
    trunk = ResidualMLP(128, depth=3)
    tangent = TangentNetwork(trunk)
    near = partial(ClassifierRatio, trunk=FourierMLP(128), scaling=Identity())
    rivals: dict[str, Callable[..., Ratio]] = {
        "ISADRE": partial(
            ISADRE,
            AlignedSecant(trunk, vectorised=True),
            path=DiffusionBridge(),
            **CONDITIONAL,
        ),
        "CTSM": partial(CTSM, tangent, vectorised=False),
        "DREInfinity": partial(DREInfinity, tangent),
    }
    made = {name: with_steps(partial(make, scaling=Identity())) for name, make in rivals.items()}
    return {
        "secant: classifier on a mixture": (Copula(Mixture(_GROWTH)), with_steps(near)),
        **{name: (FullGaussian(), make) for name, make in {**made, **_eager()}.items()},
    }


def _rung_on_gaussians(task: Task, make: MakeWithSteps, steps: int, seed: int) -> Rung:
    estimator = make(steps=steps, random_state=seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)  # the task has no overlap by design
        task.fit(estimator, seed)
    seconds = time.perf_counter() - began
    return Rung(seconds, abs(task.judge(estimator, None, seed).error))


def _rung_on_power(rule: BaseRule, make: MakeWithSteps, steps: int, seed: int) -> Rung:
    """A ratio, as any object with `log_ratio`, on a base, normalised by rows of the base."""
    rows, ratio = _power(), make(steps=steps, random_state=seed)
    key, key_mass = jax.random.split(jax.random.key(seed))
    began = time.perf_counter()
    base = rule.fitted(rows.train, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)
        x_1 = base.coordinates(_thinned(rows.train, _ROWS_FOR_RATIO))
        ratio.fit_samples(base.sample(key, x_1.shape[0]), x_1)
    mass = log_normaliser(ratio.log_ratio(base.sample(key_mass, _ROWS_FOR_NORMALISER)))
    seconds = time.perf_counter() - began
    fresh = _thinned(rows.test, _ROWS_TO_JUDGE)
    log_density = base.log_prob(fresh) + ratio.log_ratio(base.coordinates(fresh))
    return Rung(seconds, mass.log_value - float(np.mean(log_density)))


def _thinned(rows: Float[np.ndarray, "n d"], n: int) -> Float[np.ndarray, "m d"]:
    return rows[:: max(rows.shape[0] // n, 1)]


@cache
def _power() -> Split:
    try:
        return power_task().split(0)
    except FileNotFoundError as missing:
        raise Skipped(str(missing)) from missing
