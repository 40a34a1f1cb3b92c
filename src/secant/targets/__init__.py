"""Targets: training losses."""

from secant.targets.batch import Batch, Target
from secant.targets.bregman import (
    Bregman,
    ExponentialWeight,
    Hellinger,
    KullbackLeibler,
    Logistic,
    PolynomialWeight,
    SquaredRatio,
    Trimmed,
)
from secant.targets.conditional import ConditionalSecantAlignment, ConditionalTimeScore
from secant.targets.direct import DirectLoss, DonskerVaradhan, GammaDivergence, InfoNCE
from secant.targets.distillation import Distillation
from secant.targets.telescoping import (
    DimensionMixing,
    GeodesicMixing,
    LinearCombination,
    Telescoping,
    Waymarks,
)
from secant.targets.time_score_matching import (
    ConstantWeight,
    FadingWeight,
    JointScoreMatching,
    TimeScoreMatching,
)
from secant.targets.velocity import ImpliedVelocity, SecantVelocity, TangentVelocity

__all__ = [
    "Batch",
    "Bregman",
    "ConditionalSecantAlignment",
    "ConditionalTimeScore",
    "ConstantWeight",
    "DimensionMixing",
    "DirectLoss",
    "Distillation",
    "DonskerVaradhan",
    "ExponentialWeight",
    "FadingWeight",
    "GammaDivergence",
    "GeodesicMixing",
    "Hellinger",
    "ImpliedVelocity",
    "InfoNCE",
    "JointScoreMatching",
    "KullbackLeibler",
    "LinearCombination",
    "Logistic",
    "PolynomialWeight",
    "SecantVelocity",
    "SquaredRatio",
    "TangentVelocity",
    "Target",
    "Telescoping",
    "TimeScoreMatching",
    "Trimmed",
    "Waymarks",
]
