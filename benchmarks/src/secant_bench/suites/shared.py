"""Tasks and methods of more than one suite."""

from __future__ import annotations

from typing import Any, Literal

from secant.curricula import Curriculum
from secant.datasets import (
    asinh,
    block_gaussians,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    through,
)
from secant.estimators import ISADRE, Identity
from secant.integration import GaussLegendre, Rule, SecantSteps, Trapezoid
from secant.models import AlignedSecant, ResidualMLP
from secant.paths import DiffusionInterpolant, Path
from secant.scaling import ScalingRule
from secant.targets import ConditionalSecantAlignment
from secant.time_samplers import TimeSampler, Uniform
from secant.training import Training
from secant_bench.tasks import Task

__all__ = [
    "CONDITIONAL",
    "EVALUATIONS",
    "FROM_NORMAL",
    "by_steps",
    "by_trapezoid",
    "isadre",
    "mapped_tasks",
    "tangents",
]

EVALUATIONS = (1, 2, 5, 10, 50)  # the paper's

FROM_NORMAL: dict[str, Any] = {"path": DiffusionInterpolant(), "scaling": Identity()}  # N(0, I)
CONDITIONAL: dict[str, Any] = {  # the paper's vectorised target, with more informative times
    "target": ConditionalSecantAlignment(vectorised=True),
    "time_sampler": Uniform(),
}


def by_steps() -> tuple[Rule | None, ...]:
    """Rules of one secant, two, five and more."""
    return tuple(SecantSteps(n) for n in EVALUATIONS)


def by_trapezoid() -> tuple[Rule | None, ...]:
    """Rules of as many tangents: the midpoint, then the trapezoid rule."""
    return tuple(tangents(n) for n in EVALUATIONS)


def tangents(n: int) -> Rule:
    """The usual rule of n evaluations for time scores."""
    return GaussLegendre(1) if n == 1 else Trapezoid(n)


def mapped_tasks(d: int, n_rows: int) -> list[Task]:
    """Maps of block Gaussians; x_0 is x_1 with every second column shuffled."""
    pair = block_gaussians(d)
    every_second = tuple(range(1, d, 2))
    maps = (("half-cube", half_cube, inverse_half_cube), ("asinh", asinh, inverse_asinh))
    return [
        Task(through(pair, forward, inverse, f"{name} blocks d={d}"), n_rows, every_second)
        for name, forward, inverse in maps
    ]


def isadre(
    width: int,
    steps: int,
    curriculum: Curriculum,
    seed: int,
    *,
    path: Path | None = None,
    scaling: ScalingRule | None = None,
    time_sampler: TimeSampler | None = None,
    frame: Literal["fixed-x", "trajectory"] = "fixed-x",
) -> ISADRE:
    """The paper's target, with uniform times by default, evaluated by five steps."""
    return ISADRE(
        AlignedSecant(ResidualMLP(width, depth=2), vectorised=True),
        path=path,
        target=ConditionalSecantAlignment(vectorised=True, frame=frame),
        scaling=scaling,
        time_sampler=Uniform() if time_sampler is None else time_sampler,
        curriculum=curriculum,
        n_steps=5,
        training=Training(steps=steps, patience=None),
        random_state=seed,
    )
