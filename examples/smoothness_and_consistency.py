"""Smoothness and consistency.

Left: where the tangent's slope in t is at most Λ, a secant's is at most Λ/2. Right: functions that
solve the alignment identity differ by c/(t − l); only the secant stays bounded as t → l.
"""

import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.stats import norm

from secant.schedules import Trigonometric

jax.config.update("jax_enable_x64", True)
X, L = 3.2, 0.2


def log_p(t):
    """log p_t(X) on the path from N(0, 1) to N(4, 0.5²)."""
    alpha, beta = Trigonometric()(t)
    return norm.logpdf(X, 4.0 * beta, jnp.sqrt(alpha**2 + 0.25 * beta**2))


def secant(t):
    """u(X, L, t)."""
    return (log_p(t) - log_p(L)) / (t - L)


score = jax.grad(log_p)
t = np.linspace(L + 0.01, 1.0, 400)
slope_s, slope_u = (np.abs(jax.vmap(jax.grad(f))(t)) for f in (score, secant))
steepest = float(np.abs(jax.vmap(jax.grad(score))(np.linspace(L, 1.0, 2000))).max())

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(t, slope_s, label="|∂ₜ s(x, t)|")
left.plot(t, slope_u, label=f"|∂ₜ u(x, {L}, t)|")
left.axhline(steepest, color="C0", linestyle=":", label="Λ")
left.axhline(steepest / 2.0, color="C1", linestyle=":", label="Λ/2")
left.set(xlabel="t", ylim=(0, 1.6 * steepest))
left.legend(frameon=False, ncols=2)
for c in (-0.5, -0.2, 0.2, 0.5):
    right.plot(t, secant(t) + c / (t - L), color="grey", linewidth=0.8)
right.plot(t, secant(t), "C1", linewidth=2, label="the secant")
right.plot(L, score(L), "ko", label="s(x, l)")
right.set(xlabel="t", ylim=(-30, 60), title="solutions of the alignment identity")
right.legend(frameon=False)
figure.tight_layout()
name = "smoothness_and_consistency.png"
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else name, dpi=110)
