"""Covariate shift.

A straight line is fitted to a curve on training rows of one region and used in another. Weighted by
the density ratio, the same rows represent the target.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import secant

rng = np.random.default_rng(0)
source, target = rng.normal(0.0, 1.0, (600, 1)), rng.normal(1.2, 0.6, (600, 1))


def outcome(x):
    """A curve with noise; the same in both samples, as covariate shift asks."""
    return np.sin(2.0 * x[:, 0]) + x[:, 0] + 0.2 * rng.normal(size=len(x))


y = outcome(source)
plain = LinearRegression().fit(source, y)
shifted = secant.CovariateShift(LinearRegression(), random_state=0).fit(source, y, target)
weights = np.asarray(shifted.weights_.weights)

at = np.linspace(-3.0, 3.0, 200)[:, None]
figure, axes = plt.subplots(figsize=(6.5, 4))
axes.scatter(source, y, s=12 * weights, color="C0", alpha=0.6, label="source, sized by weight")
axes.scatter(target, outcome(target), s=4, color="C1", alpha=0.6, label="target")
axes.plot(at, plain.predict(at), "C0--", label="plain fit")
axes.plot(at, shifted.predict(at), "C1", linewidth=2, label="weighted fit")
axes.set(xlabel="x", ylabel="y", ylim=(-4, 4))
axes.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "covariate_shift.png", dpi=110)
