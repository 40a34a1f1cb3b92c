"""The likelihood of an unnormalised model.

The exact time score of a Gaussian path, integrated in few steps. The result is not normalised: its
negative log likelihood is below the entropy, and a coarser integral scores better. With log Ẑ added
it is that of a density, and never below the entropy. All by quadrature.
"""

import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.stats import norm

from secant.schedules import Trigonometric

MEAN, SCALE = 2.0, 0.3


def log_p(x, t):
    """log p_t on the path from N(0, 1) to N(MEAN, SCALE²)."""
    alpha, beta = Trigonometric()(t)
    return norm.logpdf(x, beta * MEAN, jnp.sqrt(alpha**2 + beta**2 * SCALE**2))


score = jax.jit(jax.vmap(jax.grad(log_p, argnums=1), (0, None)))


def log_ratio(x, evaluations):
    """The integral of the time score by the trapezoid rule."""
    times = np.linspace(0.0, 1.0, evaluations)
    return np.trapezoid([score(x, t) for t in times], times, axis=0)


x = np.linspace(-8.0, 8.0, 4001)
p_1, entropy = np.exp(log_p(x, 1.0)), 0.5 * np.log(2.0 * np.pi * np.e * SCALE**2)
evaluations = [2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50]
reported, corrected = [], []
for count in evaluations:
    log_model = np.asarray(log_p(x, 0.0)) + log_ratio(x, count)
    reported.append(-np.trapezoid(p_1 * log_model, x))
    corrected.append(reported[-1] + np.log(np.trapezoid(np.exp(log_model), x)))

figure, axes = plt.subplots(figsize=(6.5, 3.6))
axes.axhline(entropy, color="k", linestyle="--", label="entropy of p_1")
axes.semilogx(evaluations, corrected, "C0o-", label="of the density r̂ p_0 / Ẑ")
axes.semilogx(evaluations, reported, "C1o-", label="of r̂ p_0, not normalised")
axes.set(xlabel="evaluations", ylabel="negative log likelihood, nats")
axes.set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
axes.set_xticks([], minor=True)
axes.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "unnormalised_likelihood.png", dpi=110)
