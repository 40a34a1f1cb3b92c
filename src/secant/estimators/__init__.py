"""Ratio estimators with the scikit-learn interface."""

from secant.anchoring import GaussianMixtures, GaussianMoments
from secant.estimators._base import RatioEstimator
from secant.estimators.bootstrapped import BootstrapRatio
from secant.estimators.calibrated import IsotonicRatio
from secant.estimators.chasm_switch import ChasmSwitch
from secant.estimators.classifier import ClassifierRatio
from secant.estimators.featurised import FeaturisedRatio
from secant.estimators.isadre import ISADRE
from secant.estimators.kernel import KernelDiagnostics, KernelRatio
from secant.estimators.off_the_shelf import SklearnRatio
from secant.estimators.path_entropy import EntropyDifference, PathEntropy
from secant.estimators.secant_ratio import SecantRatio
from secant.estimators.signed import SignedRatio
from secant.estimators.staged import StagedRatio
from secant.estimators.telescoping import TRE
from secant.estimators.time_score import CTSM, D3RE, DREInfinity
from secant.scaling import AdaptiveMargins, Identity, Standardise

__all__ = [
    "CTSM",
    "D3RE",
    "ISADRE",
    "TRE",
    "AdaptiveMargins",
    "BootstrapRatio",
    "ChasmSwitch",
    "ClassifierRatio",
    "DREInfinity",
    "EntropyDifference",
    "FeaturisedRatio",
    "GaussianMixtures",
    "GaussianMoments",
    "Identity",
    "IsotonicRatio",
    "KernelDiagnostics",
    "KernelRatio",
    "PathEntropy",
    "RatioEstimator",
    "SecantRatio",
    "SignedRatio",
    "SklearnRatio",
    "StagedRatio",
    "Standardise",
]
