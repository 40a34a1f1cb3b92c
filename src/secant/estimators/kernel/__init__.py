"""Kernel estimators: a linear model of the ratio, fitted by least squares or by likelihood."""

from secant.estimators.kernel.diagnostics import KernelDiagnostics
from secant.estimators.kernel.estimator import KernelRatio

__all__ = ["KernelDiagnostics", "KernelRatio"]
