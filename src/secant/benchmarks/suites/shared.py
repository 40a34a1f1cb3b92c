"""Tasks and methods of more than one suite."""

from __future__ import annotations

from secant.benchmarks.tasks import Task
from secant.curricula import Curriculum
from secant.datasets import (
    asinh,
    block_gaussians,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    through,
)
from secant.estimators import ISADRE
from secant.estimators.scaling import ScalingRule
from secant.models import AlignedSecant, ResidualMLP
from secant.paths import Path
from secant.time_samplers import Uniform
from secant.training import Training

__all__ = ["isadre", "mapped_tasks"]


def mapped_tasks(d: int, n_rows: int) -> list[Task]:
    """Blocks of Gaussians seen through maps; x_0 is x_1 with every second column shuffled."""
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
) -> ISADRE:
    """The paper's method with times drawn uniformly, judged by five steps."""
    return ISADRE(
        AlignedSecant(ResidualMLP(width, depth=2), vectorised=True),
        path=path,
        scaling=scaling,
        time_sampler=Uniform(),
        curriculum=curriculum,
        n_steps=5,
        training=Training(steps=steps, patience=None),
        random_state=seed,
    )
