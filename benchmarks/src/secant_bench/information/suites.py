"""Suites of mutual information."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jaxtyping import Array, PRNGKeyArray

from secant.datasets import (
    DependentPair,
    asinh,
    asinh_student,
    block_gaussians,
    bmi_tasks,
    edge_singular_gauss,
    geometric_tasks,
    half_cube,
)
from secant_bench.budgets import Budget
from secant_bench.information.methods import METHODS, score_based
from secant_bench.information.runner import InformationSuite
from secant_bench.products import picked

__all__ = ["INFORMATION_SUITES", "gaussian_blocks", "geometric"]


def gaussian_blocks(d: int) -> DependentPair:
    """d/2 pairs of correlated coordinates, the first of each in x, the second in y: d/4 nats."""
    pair = block_gaussians(d)

    def sample(key: PRNGKeyArray, n: int) -> tuple[Array, Array]:
        rows = pair.draw_1(key, n)
        return rows[:, ::2], rows[:, 1::2]

    assert pair.kl is not None
    return DependentPair(f"block-gaussians-{d}d", d // 2, d // 2, sample, pair.kl)


def _independent() -> DependentPair:
    return DependentPair.from_pair(edge_singular_gauss(0.0), 1, name="normal-1x1-0")


def _two_normals() -> DependentPair:
    """Two samples of one distribution, as a pair, for the two-sample test."""

    def sample(key: PRNGKeyArray, n: int) -> tuple[Array, Array]:
        x, y = jax.random.normal(key, (2, n, 3))
        return x, y

    return DependentPair("identical-normals-3d", 3, 3, sample, 0.0)


def _coverage() -> InformationSuite:
    normals = [
        DependentPair.from_pair(edge_singular_gauss(rho), 1, name=f"normal-1x1-{rho:g}")
        for rho in (0.0, 0.5, 0.9)
    ]
    student = DependentPair.from_pair(asinh_student(1, 1, df=1.0), 1)
    dense = next(t for t in bmi_tasks() if t.dim_x == 5 and t.name.startswith("multinormal-dense"))
    return InformationSuite(
        "mi-coverage",
        "coverage of the 95 % interval",
        (*normals, dense, student),
        picked(METHODS, "secant"),
        n_rows=2_000,
        n_seeds=100,
    )


def _null() -> InformationSuite:
    return InformationSuite(
        "mi-null",
        "false positives of the independence test at 5 %",
        (_independent(),),
        picked(METHODS, "secant, uncorrected"),
        n_rows=2_000,
        n_seeds=200,
    )


def _two_sample_null() -> InformationSuite:
    return InformationSuite(
        "two-sample-null",
        "false positives of the two-sample test at 5 %",
        (_two_normals(),),
        picked(METHODS, "two-sample test, logistic regression", "two-sample test"),
        n_rows=1_000,
        n_seeds=200,
    )


def _margins() -> InformationSuite:
    one_dimensional = tuple(task for task in bmi_tasks() if task.dim_x == task.dim_y == 1)
    return InformationSuite(
        "mi-margins",
        "normal scores against untransformed columns",
        one_dimensional,
        picked(METHODS, "secant, uncorrected", "secant, uncorrected, margins as they are"),
        n_rows=2_000,
        n_seeds=3,
    )


def _bmi() -> InformationSuite:
    return InformationSuite(
        "bmi",
        "the 40 tasks of Beyond Normal, v1",
        bmi_tasks(),
        picked(METHODS, "secant", "KSG", "MINE", "InfoNCE", "path entropy"),
        n_rows=10_000,
        n_seeds=1,
    )


def _peers() -> InformationSuite:
    dense = next(t for t in bmi_tasks() if t.dim_x == 5 and t.name.startswith("multinormal-dense"))
    normal = DependentPair.from_pair(edge_singular_gauss(0.9), 1, name="normal-1x1-0.9")
    return InformationSuite(
        "peers-information",
        "mutual information by other methods, from 0.6 to 10 nats",
        (normal, dense, gaussian_blocks(40)),
        picked(METHODS, "secant", "KSG", "MINE", "InfoNCE"),
        n_rows=10_000,
    )


def geometric(budget: Budget) -> InformationSuite:
    """The difficult geometries, by our method, score-based methods and common ones."""
    return InformationSuite(
        "paper-geometric-mi",
        "the paper's geometric tasks",
        geometric_tasks(),
        {
            **picked(METHODS, "secant", "path entropy", "KSG", "MINE", "InfoNCE"),
            **score_based(steps=budget.pick(1_500, 6_000, 30_000)),
        },
        n_rows=10_000,
    )


def _gaussian() -> InformationSuite:
    blocks = {d: gaussian_blocks(d) for d in (40, 80, 160)}
    bent = [
        blocks[40].through(f, f, f"{f.__name__.replace('_', '-')}-of-block-gaussians-40d")
        for f in (half_cube, asinh)
    ]
    return InformationSuite(
        "mi-gaussian",
        "block Gaussians and maps of them, 100k rows",
        (*blocks.values(), *bent),
        picked(METHODS, "secant", "path entropy"),
        n_rows=100_000,
        n_seeds=1,
    )


def _million() -> InformationSuite:
    block = gaussian_blocks(160)
    bent = [
        block.through(f, f, f"{f.__name__.replace('_', '-')}-of-block-gaussians-160d")
        for f in (half_cube, asinh)
    ]
    return InformationSuite(
        "mi-million",
        "maps of 160-dimensional block Gaussians, a million rows",
        tuple(bent),
        picked(METHODS, "secant"),
        n_rows=1_000_000,
        n_seeds=1,
    )


INFORMATION_SUITES: dict[str, Callable[[], InformationSuite]] = {
    "mi-coverage": _coverage,
    "mi-null": _null,
    "two-sample-null": _two_sample_null,
    "mi-margins": _margins,
    "bmi": _bmi,
    "peers-information": _peers,
    "mi-gaussian": _gaussian,
    "mi-million": _million,
}
