"""Kernel estimators: a linear model of the ratio, fitted by least squares or by likelihood."""

from secant.estimators.kernel.estimator import KernelRatio
from secant.estimators.kernel.selection import KernelDiagnostics

__all__ = ["KernelDiagnostics", "KernelRatio"]
