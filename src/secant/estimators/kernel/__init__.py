"""Kernel estimators: a linear model of the ratio, fitted by least squares or by likelihood."""

from secant.estimators.kernel.estimator import KernelDiagnostics, KernelRatio

__all__ = ["KernelDiagnostics", "KernelRatio"]
