"""What is learned without the correction.

If the derivative is taken of a value computed beforehand, it is zero, and the alignment identity
loses its correction: instead of a secant the network learns the tangent at the right end of every
interval. A Gaussian path in closed form; left one evaluation, right several.
"""

import sys
from itertools import pairwise

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.stats import norm

from secant.schedules import Linear

MEAN, SCALE = 1.0, 0.5


def log_p(x, t):
    """log p_t on the path from N(0, 1) to N(MEAN, SCALE²)."""
    alpha, beta = Linear()(t)
    return norm.logpdf(x, beta * MEAN, jnp.sqrt(alpha**2 + beta**2 * SCALE**2))


score = jax.jit(jax.vmap(jax.grad(log_p, argnums=1), (0, None)))


def secant(x, l, t):
    """u(x, l, t): solves s = u + (t − l) ∂_t u."""
    return (log_p(x, t) - log_p(x, l)) / (t - l)


def summed(u, x, steps):
    """Σ (t − l) u(x, l, t) over equal intervals."""
    times = np.linspace(0.0, 1.0, steps + 1)
    return sum((t - l) * u(x, l, t) for l, t in pairwise(times))


solutions = {"with the correction": secant, "without it": lambda x, l, t: score(x, t)}
x, steps = np.linspace(-1.5, 3.0, 200), np.array([1, 2, 3, 5, 10, 20, 50])
rows = MEAN + SCALE * norm.ppf((np.arange(2000) + 0.5) / 2000)  # quantiles of p_1
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(x, log_p(x, 1.0) - log_p(x, 0.0), "k", linewidth=4, alpha=0.25, label="log ratio")
for name, u in solutions.items():
    left.plot(x, u(x, 0.0, 1.0), label=f"u(x, 0, 1) {name}")
    right.semilogx(steps, [summed(u, rows, int(m)).mean() for m in steps], "o-", label=name)
divergence = 0.5 * (SCALE**2 + MEAN**2 - 1.0) - np.log(SCALE)
right.axhline(divergence, color="k", linestyle="--", label="KL")
left.set(xlabel="x", ylabel="nats")
right.set(xlabel="evaluations", ylabel="mean over p_1, nats")
right.set_xticks(steps, map(str, steps), minor=False)
right.set_xticks([], minor=True)
for panel in (left, right):
    panel.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "lost_correction.png", dpi=110)
