"""Benchmarks of mutual information: coverage, null tests, and error against other estimators."""

from secant_bench.information.runner import InformationSuite
from secant_bench.information.suites import INFORMATION_SUITES

__all__ = ["INFORMATION_SUITES", "InformationSuite"]
