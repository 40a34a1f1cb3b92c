"""Targets: what a model is trained to minimise."""

from secant.targets.batch import Batch, Target
from secant.targets.conditional import ConditionalSecantAlignment
from secant.targets.direct import Logistic
from secant.targets.distillation import Distillation
from secant.targets.time_score_matching import ConstantWeight, FadingWeight, TimeScoreMatching
from secant.targets.velocity import ImpliedVelocity, SecantVelocity, TangentVelocity

__all__ = [
    "Batch",
    "ConditionalSecantAlignment",
    "ConstantWeight",
    "Distillation",
    "FadingWeight",
    "ImpliedVelocity",
    "Logistic",
    "SecantVelocity",
    "TangentVelocity",
    "Target",
    "TimeScoreMatching",
]
