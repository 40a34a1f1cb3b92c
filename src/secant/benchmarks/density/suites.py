"""Which densities, by which methods, how often."""

from __future__ import annotations

from collections.abc import Callable

from secant.benchmarks.density.tasks import (
    DensityTask,
    bsds300_task,
    miniboone_task,
    power_task,
    spread_power_task,
    toy_tasks,
)
from secant.benchmarks.products import Product

__all__ = ["DENSITY_SUITES", "DensitySuite"]


DensitySuite = Product[DensityTask]


def _plane() -> DensitySuite:
    return DensitySuite(
        "density-2d",
        "nine densities of the plane, 50,000 rows",
        toy_tasks(),
        ("secant", "SecantRatio", "ISADRE", "D3RE", "NCE", "PW-DRE"),
    )


def _tables() -> DensitySuite:
    return DensitySuite(
        "density-tables",
        "tables of real data",
        (spread_power_task(), bsds300_task()),
        ("secant", "Gaussian", "Gaussian copula", "mixture in copula space"),
    )


def _small_table() -> DensitySuite:
    return DensitySuite(
        "density-miniboone",
        "6.9k rows of 43 columns against peers on the same rows",
        (miniboone_task(),),
        ("secant", "Gaussian", "kernel density", "spline flow"),
    )


def _evaluations() -> DensitySuite:
    methods = ("SecantRatio", "ISADRE", "DREInfinity", "D3RE")
    return DensitySuite(
        "density-evaluations",
        "likelihood against evaluations, on household power",
        (power_task(),),
        tuple(f"{name}, by evaluations" for name in methods),
    )


DENSITY_SUITES: dict[str, Callable[[], DensitySuite]] = {
    "density-2d": _plane,
    "density-tables": _tables,
    "density-miniboone": _small_table,
    "density-evaluations": _evaluations,
}
