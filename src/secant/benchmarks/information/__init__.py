"""Benchmarks of mutual information: coverage, null tests, and error against other estimators."""

from secant.benchmarks.information.runner import InformationSuite
from secant.benchmarks.information.suites import INFORMATION_SUITES

__all__ = ["INFORMATION_SUITES", "InformationSuite"]
