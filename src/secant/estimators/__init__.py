"""Estimators with the scikit-learn contract."""

from secant.estimators._base import RatioEstimator
from secant.estimators.anchoring import GaussianMixtures, GaussianMoments
from secant.estimators.classifier import ClassifierRatio
from secant.estimators.isadre import ISADRE
from secant.estimators.kernel import KernelDiagnostics, KernelRatio
from secant.estimators.off_the_shelf import SklearnRatio
from secant.estimators.scaling import AdaptiveMargins, Identity, Standardise
from secant.estimators.secant_ratio import SecantRatio

__all__ = [
    "ISADRE",
    "AdaptiveMargins",
    "ClassifierRatio",
    "GaussianMixtures",
    "GaussianMoments",
    "Identity",
    "KernelDiagnostics",
    "KernelRatio",
    "RatioEstimator",
    "SecantRatio",
    "SklearnRatio",
    "Standardise",
]
