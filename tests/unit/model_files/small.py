"""Small samples of two columns, and what is saved beside ratios."""

from functools import partial

from tests import registry, tiny

import secant
from secant.models.velocity import MeanVelocity

X_0, X_1 = tiny.samples(n=300, d=2)
BASES = ("normal", "gaussian", "copula", "mixture", "copula-mixture")

kernel = partial(registry.new, "kernel, ulsif")
spectral = partial(registry.new, "secant ratio")


def density(base, **settings):
    return secant.DensityEstimator(base, random_state=0, **({"estimator": kernel()} | settings))


def path_entropy():
    return secant.PathEntropy(MeanVelocity(tiny.TRUNK), training=tiny.TRAINING, random_state=0)
