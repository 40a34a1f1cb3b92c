"""Benchmarks of density estimation: nine two-dimensional densities and five tables."""

from secant_bench.density.runner import DensitySuite
from secant_bench.density.suites import DENSITY_SUITES

__all__ = ["DENSITY_SUITES", "DensitySuite"]
