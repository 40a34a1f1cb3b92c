"""Tasks: estimates and tests that use any ratio estimator."""

import warnings

from secant.tasks.annealing import Annealing
from secant.tasks.checking import Check, CheckedLimit, CheckError, check
from secant.tasks.comparison import Comparison, Degree, compare
from secant.tasks.covariate_shift import CovariateShift
from secant.tasks.density import DensityEstimator
from secant.tasks.divergence import (
    Divergence,
    chi2_divergence,
    jensen_shannon,
    kl_divergence,
    total_variation,
)
from secant.tasks.drift_detector import DriftDetector, detect_drift
from secant.tasks.importance import ImportanceWeights, WeightedMean, importance_weights
from secant.tasks.information import MIOptions, MutualInformation
from secant.tasks.mi_matrix import MutualInformationMatrix, mutual_information_matrix
from secant.tasks.monitoring import Monitoring, monitor
from secant.tasks.mutual_information import MIEstimator, mutual_information, total_correlation
from secant.tasks.performance import PerformanceEstimate, estimate_performance
from secant.tasks.two_sample import TwoSampleTest, two_sample_test
from secant.tasks.weight_closure import Closure, closure

__all__ = [
    "Annealing",
    "Check",
    "CheckError",
    "CheckedLimit",
    "Closure",
    "Comparison",
    "CovariateShift",
    "Degree",
    "DensityEstimator",
    "Divergence",
    "DriftDetector",
    "ImportanceWeights",
    "MIEstimator",
    "MIOptions",
    "Monitoring",
    "MutualInformation",
    "MutualInformationMatrix",
    "PerformanceEstimate",
    "TwoSampleTest",
    "WeightedMean",
    "check",
    "chi2_divergence",
    "closure",
    "compare",
    "detect_drift",
    "estimate_performance",
    "importance_weights",
    "jensen_shannon",
    "kl_divergence",
    "monitor",
    "mutual_information",
    "mutual_information_matrix",
    "total_correlation",
    "total_variation",
    "two_sample_test",
]


def __getattr__(name: str) -> object:
    if name == "DriftReport":
        warnings.warn(
            "DriftReport is deprecated: comparisons are secant.tasks.Comparison.",
            FutureWarning,
            stacklevel=2,
        )
        return Comparison
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
