"""Two ways to bias a conditional target.

Left: the one-sided conditional time score assumes a standard normal p_0; from another p_0 its mean
is not the time score. Right: a weight that depends on the sample is correlated with the conditional
score, and moves the minimiser. Both by quadrature, halfway along a Gaussian path.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from secant.schedules import Trigonometric

T, MEAN = 0.5, 1.5


def log_p(x, t, scale_0):
    """log p_t on the path from N(0, scale_0²) to N(MEAN, 1)."""
    alpha, beta = np.cos(0.5 * np.pi * t), np.sin(0.5 * np.pi * t)
    return norm.logpdf(x, beta * MEAN, np.hypot(alpha * scale_0, beta))


def minimiser(x, scale_0, *, weighted):
    """What least squares on the conditional score finds at x, with or without a weight of y."""
    (alpha, beta), (alpha_rate, beta_rate) = Trigonometric().rates(np.asarray(T))
    y = np.linspace(MEAN - 8.0, MEAN + 8.0, 4001)
    noise = (x[:, None] - beta * y) / alpha
    score = (noise**2 - 1.0) * alpha_rate / alpha + noise * beta_rate * y / alpha
    mass = norm.pdf(noise, 0.0, scale_0) * norm.pdf(y, MEAN, 1.0)
    if weighted:
        mass = mass / (2.0 * (alpha_rate / alpha) ** 2 + (beta_rate * y / alpha) ** 2)
    return (score * mass).sum(axis=1) / mass.sum(axis=1)


def truth(x, scale_0):
    """The time score, by a central difference."""
    return (log_p(x, T + 1e-4, scale_0) - log_p(x, T - 1e-4, scale_0)) / 2e-4


x = np.linspace(-2.0, 4.0, 200)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
for panel, scale_0, weighted, title in (
    (axes[0], 0.5, False, "p_0 = N(0, ¼)"),
    (axes[1], 1.0, True, "weight 1/Var given y"),
):
    panel.plot(x, truth(x, scale_0), "k", linewidth=4, alpha=0.25, label="time score")
    panel.plot(x, minimiser(x, scale_0, weighted=weighted), "C1", label="what is learned")
    panel.set(xlabel="x", title=title)
    panel.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "conditional_pitfalls.png", dpi=110)
