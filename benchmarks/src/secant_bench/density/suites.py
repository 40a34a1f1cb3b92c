"""Suites of density estimation."""

from __future__ import annotations

from collections.abc import Callable

from secant_bench.budgets import Budget
from secant_bench.density.methods import METHODS, on_tables, on_the_plane
from secant_bench.density.runner import DensitySuite
from secant_bench.density.tasks import (
    bsds300_task,
    gas_task,
    hepmass_task,
    miniboone_task,
    power_task,
    spread_power_task,
    toy_tasks,
)
from secant_bench.products import picked

__all__ = ["DENSITY_SUITES", "plane", "tabular"]


def plane(budget: Budget) -> DensitySuite:
    """Nine densities of the plane by six methods."""
    names = ("SecantRatio", "D3RE", "NCE", "PW-DRE")
    return DensitySuite(
        "paper-toy2d",
        "nine densities of the plane, 50,000 rows",
        toy_tasks(),
        {
            **picked(METHODS, "secant"),
            **on_the_plane(names, steps=budget.pick(1_000, 2_500, 20_000)),
            # At 2,500 steps the others have converged; this one still improves.
            **on_the_plane(("ISADRE",), steps=budget.pick(1_000, 6_000, 20_000)),
        },
    )


def _tables() -> DensitySuite:
    return DensitySuite(
        "density-tables",
        "tables of real data",
        (spread_power_task(), bsds300_task()),
        picked(
            METHODS,
            "secant",
            "Gaussian",
            "Gaussian copula",
            "mixture in copula space",
            "D3RE, annealed",
        ),
    )


def _peers() -> DensitySuite:
    return DensitySuite(
        "peers-density",
        "densities by other libraries, on the same rows",
        (miniboone_task(),),
        picked(METHODS, "secant", "Gaussian", "kernel density", "spline flow"),
    )


def tabular(budget: Budget) -> DensitySuite:
    """Five tables by score-based methods, each fit evaluated at several numbers of evaluations."""
    return DensitySuite(
        "paper-tabular",
        "likelihood of five tables against evaluations",
        (power_task(), gas_task(), hepmass_task(), miniboone_task(), bsds300_task()),
        on_tables(steps=budget.pick(1_000, 20_000, 100_000)),
        version=2,
    )


DENSITY_SUITES: dict[str, Callable[[], DensitySuite]] = {
    "density-tables": _tables,
    "peers-density": _peers,
}
