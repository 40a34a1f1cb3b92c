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
    ISADRE,
    AdaptiveMargins,
    ClassifierRatio,
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
    OverlapWarning,
    TrainingWarning,
)
from secant.training import Training

__version__ = "0.1.0"

__all__ = [
    "ISADRE",
    "AdaptiveMargins",
    "ClassifierRatio",
    "ClippedRatioWarning",
    "ConstantColumnWarning",
    "GaussianMixtures",
    "GaussianMoments",
    "Identity",
    "KernelRatio",
    "OverlapWarning",
    "SecantRatio",
    "SklearnRatio",
    "Standardise",
    "Training",
    "TrainingWarning",
    "curricula",
    "datasets",
    "diagnostics",
    "integration",
    "models",
    "paths",
    "schedules",
    "targets",
    "time_samplers",
]
