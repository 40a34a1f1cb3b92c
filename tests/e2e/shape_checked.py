"""Fits with every shape annotation of the numerical core checked; run by test_shapes.py.

A separate process, because the checks are added to modules when they are first imported.
"""

import warnings

import numpy as np
import pytest
from jaxtyping import install_import_hook

CORE = ("schedules", "paths", "time_samplers", "curricula", "models", "targets", "integration")
CORE += ("bridges", "training", "datasets")


def estimators(secant):
    """One estimator of every kind, as small as possible."""
    from secant.integration import Adaptive, RungeKutta, Trapezoid
    from secant.models import (
        AlignedSecant,
        JointScoreNetwork,
        ResidualMLP,
        SpectralSecant,
        TangentNetwork,
        TelescopingHeads,
    )

    trunk = ResidualMLP(width=8, depth=1, quadratic=True)
    tangent = TangentNetwork(trunk, n_nodes=2)
    joint = JointScoreNetwork(trunk, n_nodes=2)
    vectorised = TangentNetwork(trunk, n_nodes=2, vectorised=True)
    transport = secant.OptimalTransport(iterations=3)
    training = secant.Training(steps=4, batch_size=16, evaluate_every=2)
    tiny = {"training": training, "random_state": 0}
    return [
        secant.SecantRatio(SpectralSecant(3, trunk), **tiny),
        secant.SecantRatio(AlignedSecant(trunk), anchor=False, **tiny),
        secant.ISADRE(AlignedSecant(trunk, vectorised=True), **tiny),
        secant.DREInfinity(joint, joint=True, rule=RungeKutta(), **tiny),
        secant.D3RE(tangent, pairing=transport, rule=Trapezoid(3), **tiny),
        secant.CTSM(vectorised, rule=Adaptive(), **tiny),
        secant.TRE(TelescopingHeads(3, trunk), **tiny),
        secant.ClassifierRatio("infonce", trunk=trunk, **tiny),
        secant.ClassifierRatio("gamma", trunk=trunk, **tiny),
    ]


def main():
    with install_import_hook([f"secant.{name}" for name in CORE], "beartype.beartype"):
        import jax

        import secant
        from secant.paths import DiffusionInterpolant

        jax.config.update("jax_disable_most_optimizations", val=True)
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        x_0, x_1 = rng.normal(size=(300, 3)), rng.normal(0.5, 1.0, size=(250, 3))
        for estimator in estimators(secant):
            estimator.fit_samples(x_0, x_1)
            assert np.isfinite(estimator.log_ratio(x_0[:20])).all(), estimator
            if hasattr(estimator, "bridge_loss"):
                assert np.isfinite(estimator.bridge_loss(x_0, x_1)), estimator

        # The checks are on: two times for three rows are refused.
        rows = jax.numpy.zeros((3, 2))
        with pytest.raises(TypeError, match="Type-check error"):
            DiffusionInterpolant().point(rows, rows, rows, jax.numpy.zeros(2))
    print("all shapes agree")


if __name__ == "__main__":
    main()
