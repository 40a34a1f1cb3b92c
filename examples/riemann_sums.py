"""Secants against Riemann sums.

The log ratio at one x is the area under its time score. Left: a few tangents, as time-score methods
sum them, miss the bend at the end of the path. Middle: secants are the mean heights of their
intervals, so two are exact. Right: the log ratio by the number of evaluations. All in closed form:
the path of two Gaussians.
"""

import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.stats import norm

from secant.schedules import Trigonometric

jax.config.update("jax_enable_x64", True)
MEAN, SCALE, X, N = 2.0, 0.3, 1.2, 4


@jax.jit
@jax.vmap
def log_density(t):
    """log p_t at X."""
    alpha, beta = Trigonometric()(t)
    return norm.logpdf(X, beta * MEAN, jnp.sqrt(alpha**2 + (beta * SCALE) ** 2))


score = jax.jit(jax.vmap(jax.grad(lambda t: log_density(t[None])[0])))
t, edges = np.linspace(0.0, 1.0, 401), np.linspace(0.0, 1.0, N + 1)
truth = float(np.diff(log_density(np.array([0.0, 1.0])))[0])
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.2))
for axes, ends, heights, title in (
    (left, edges, score(edges[:-1]), f"{N} tangents"),
    (middle, edges[::2], np.diff(log_density(edges[::2])) / np.diff(edges[::2]), "2 secants"),
):
    area = float(heights @ np.diff(ends))
    axes.bar(ends[:-1], heights, np.diff(ends), align="edge", color="C0", alpha=0.3, edgecolor="C0")
    axes.plot(t, score(t), "k", linewidth=1.5)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel="t", title=f"{title}: area {area:.2f}, exact {truth:.2f}")
left.set(ylabel="time score s(x, t)")

counts = np.arange(1, 33)
sums = [float(np.mean(score(np.arange(n) / n))) for n in counts]
right.plot(counts, sums, "C1.-", label="Riemann sum of tangents")
right.plot(counts, np.full(counts.size, truth), "C0.-", label="sum of secants")
right.set(xlabel="evaluations", title="log ratio")
right.legend(frameon=False)
for axes in (left, middle, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
figure.savefig(sys.argv[1], dpi=150)
