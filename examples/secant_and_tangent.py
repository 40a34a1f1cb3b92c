"""Secant and tangent.

Left: at one x, the time score s(x, t) along a path and its average u(x, 0, t) from the start.
Right: drawn over random intervals, the secant spreads less than the tangent (the low-variance
theorem). All in closed form: the path of two Gaussians.
"""

import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.stats import norm

from secant.schedules import Trigonometric

jax.config.update("jax_enable_x64", True)
MEAN, SCALE, X = 4.0, 0.5, 3.2


def log_p(t):
    """log p_t(X) on the path from N(0, 1) to N(MEAN, SCALE²)."""
    alpha, beta = Trigonometric()(t)
    return norm.logpdf(X, beta * MEAN, jnp.sqrt(alpha**2 + beta**2 * SCALE**2))


score = jax.vmap(jax.grad(log_p))
t = np.linspace(1e-6, 1.0, 400)
rng = np.random.default_rng(0)
l, r = np.sort(rng.uniform(size=(2, 20_000)), axis=0)
secants = (log_p(r) - log_p(l)) / (r - l)
tangents = score(rng.uniform(l, r))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(t, score(t), label="tangent s(x, t)")
left.plot(t, (log_p(t) - log_p(0.0)) / t, label="secant u(x, 0, t)")
left.plot(1.0, log_p(1.0) - log_p(0.0), "ko", label="log ratio = u(x, 0, 1)")
left.set(xlabel="t", ylabel="nats")
left.legend(frameon=False)
bins = np.linspace(float(tangents.min()), float(tangents.max()), 80)
right.hist(tangents, bins, alpha=0.6, label=f"tangent, variance {float(tangents.var()):.1f}")
right.hist(secants, bins, alpha=0.6, label=f"secant, variance {float(secants.var()):.1f}")
right.set(xlabel="nats", yticks=[])
right.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "secant_and_tangent.png", dpi=110)
