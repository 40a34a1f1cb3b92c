"""secant: density-ratio estimation across the chasm, in one forward pass.

From samples of p_0 and p_1, learn log r(x) = log p_1(x) − log p_0(x).
"""

from secant import (
    curricula,
    datasets,
    diagnostics,
    integration,
    models,
    paths,
    schedules,
    targets,
    time_samplers,
)
from secant.estimators import (
    CTSM,
    D3RE,
    ISADRE,
    TRE,
    AdaptiveMargins,
    ClassifierRatio,
    DREInfinity,
    GaussianMixtures,
    GaussianMoments,
    Identity,
    KernelRatio,
    SecantRatio,
    SklearnRatio,
    Standardise,
)
from secant.exceptions import (
    ClippedRatioWarning,
    ConstantColumnWarning,
    GaussianStartWarning,
    OverlapWarning,
    TrainingWarning,
)
from secant.tasks import DriftDetector, detect_drift
from secant.training import OptimalTransport, Training

__version__ = "0.1.0"

__all__ = [
    "CTSM",
    "D3RE",
    "ISADRE",
    "TRE",
    "AdaptiveMargins",
    "ClassifierRatio",
    "ClippedRatioWarning",
    "ConstantColumnWarning",
    "DREInfinity",
    "DriftDetector",
    "GaussianMixtures",
    "GaussianMoments",
    "GaussianStartWarning",
    "Identity",
    "KernelRatio",
    "OptimalTransport",
    "OverlapWarning",
    "SecantRatio",
    "SklearnRatio",
    "Standardise",
    "Training",
    "TrainingWarning",
    "curricula",
    "datasets",
    "detect_drift",
    "diagnostics",
    "integration",
    "models",
    "paths",
    "schedules",
    "targets",
    "time_samplers",
]
