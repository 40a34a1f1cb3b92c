"""Fixed point or moving sample?

From N(0, 1) to N(0, 0.1), in closed form. The average of the time score at a fixed x is the log
ratio; the average along the flow that carries the samples has mean zero, whatever the divergence.
"""

import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.stats import norm

from secant.schedules import Trigonometric

VARIANCE = 0.1


def scale(t):
    """The standard deviation of x_t."""
    alpha, beta = Trigonometric()(t)
    return jnp.sqrt(alpha**2 + beta**2 * VARIANCE)


def score(x, t):
    """∂_t log p_t(x) at fixed x."""
    return jax.grad(lambda time: norm.logpdf(x, 0.0, scale(time)))(t)


nodes, weights = np.polynomial.legendre.leggauss(64)
times, weights = 0.5 * (nodes + 1.0), 0.5 * weights
x = np.sqrt(VARIANCE) * np.random.default_rng(0).normal(size=4000)
every = jax.vmap(jax.vmap(score, (0, None)), (None, 0))
fixed = weights @ every(x, times)
flows = x / scale(1.0) * np.asarray(scale(times))[:, None]
trajectory = weights @ jax.vmap(jax.vmap(score, (0, None)), (0, 0))(flows, times)
divergence = 0.5 * (VARIANCE - 1.0 - np.log(VARIANCE))

figure, axes = plt.subplots(figsize=(6.5, 3.6))
bins = np.linspace(-4.0, 1.5, 80)
axes.hist(fixed, bins, alpha=0.6, label=f"fixed x: mean {float(fixed.mean()):.2f}")
axes.hist(trajectory, bins, alpha=0.6, label=f"along the flow: mean {float(trajectory.mean()):.2f}")
axes.axvline(divergence, color="k", linestyle="--", label=f"KL = {divergence:.2f} nats")
axes.set(xlabel="secant over [0, 1] at rows of p_1, nats", yticks=[])
axes.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "frame.png", dpi=110)
