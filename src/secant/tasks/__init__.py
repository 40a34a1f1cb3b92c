"""The jobs people come for, each on top of any ratio estimator."""

from secant.tasks.covariate_shift import CovariateShift
from secant.tasks.divergence import (
    Divergence,
    chi2_divergence,
    jensen_shannon,
    kl_divergence,
    total_variation,
)
from secant.tasks.importance import ImportanceWeights, WeightedMean, importance_weights
from secant.tasks.two_sample import TwoSampleTest, two_sample_test

__all__ = [
    "CovariateShift",
    "Divergence",
    "ImportanceWeights",
    "TwoSampleTest",
    "WeightedMean",
    "chi2_divergence",
    "importance_weights",
    "jensen_shannon",
    "kl_divergence",
    "total_variation",
    "two_sample_test",
]
