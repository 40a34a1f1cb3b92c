"""Density estimation: nine sets of the plane and five tables, in normalised likelihood."""

from secant_bench.density.runner import DensitySuite
from secant_bench.density.suites import DENSITY_SUITES

__all__ = ["DENSITY_SUITES", "DensitySuite"]
