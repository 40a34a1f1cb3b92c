"""Fits with every shape annotation of the numerical core checked; run by test_shapes.py.

A process of its own, because the checks are woven into modules as they are first imported.
"""

import warnings

import pytest
from jaxtyping import install_import_hook

CORE = ("schedules", "paths", "time_samplers", "curricula", "models", "targets", "integration")
CORE += ("bridges", "training", "datasets")

with install_import_hook([f"secant.{name}" for name in CORE], "beartype.beartype"):
    import jax
    import jax.numpy as jnp
    import numpy as np

    import secant
    from secant.integration import Adaptive, RungeKutta, Trapezoid
    from secant.models import (
        AlignedSecant,
        JointScoreNetwork,
        ResidualMLP,
        SpectralSecant,
        TangentNetwork,
        TelescopingHeads,
    )
    from secant.paths import DiffusionInterpolant

jax.config.update("jax_disable_most_optimizations", val=True)
warnings.simplefilter("ignore")

TRUNK = ResidualMLP(width=8, depth=1, quadratic=True)
TINY = {
    "training": secant.Training(steps=4, batch_size=16, evaluate_every=2),
    "random_state": 0,
}
ESTIMATORS = [
    secant.SecantRatio(SpectralSecant(3, TRUNK), **TINY),
    secant.SecantRatio(AlignedSecant(TRUNK), anchor=False, **TINY),
    secant.ISADRE(AlignedSecant(TRUNK, vectorised=True), **TINY),
    secant.DREInfinity(JointScoreNetwork(TRUNK, n_nodes=2), joint=True, rule=RungeKutta(), **TINY),
    secant.D3RE(
        TangentNetwork(TRUNK, n_nodes=2),
        pairing=secant.OptimalTransport(iterations=3),
        rule=Trapezoid(3),
        **TINY,
    ),
    secant.CTSM(TangentNetwork(TRUNK, n_nodes=2, vectorised=True), rule=Adaptive(), **TINY),
    secant.TRE(TelescopingHeads(3, TRUNK), **TINY),
    secant.ClassifierRatio("infonce", trunk=TRUNK, **TINY),
    secant.ClassifierRatio("gamma", trunk=TRUNK, **TINY),
]

rng = np.random.default_rng(0)
x_0, x_1 = rng.normal(size=(300, 3)), rng.normal(0.5, 1.0, size=(250, 3))
for estimator in ESTIMATORS:
    estimator.fit_samples(x_0, x_1)
    assert np.isfinite(estimator.log_ratio(x_0[:20])).all(), estimator
    if hasattr(estimator, "bridge_loss"):
        assert np.isfinite(estimator.bridge_loss(x_0, x_1)), estimator

# The checks are on: two times for three rows are refused.
rows = jnp.zeros((3, 2))
with pytest.raises(TypeError, match="Type-check error"):
    DiffusionInterpolant().point(rows, rows, rows, jnp.zeros(2))
print("all shapes agree")
