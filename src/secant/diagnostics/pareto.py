"""The Pareto shape of weights: whether the mean of a ratio is reliable."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

__all__ = ["LARGEST_SHAPE", "largest_pareto_shape", "pareto_shape"]

LARGEST_SHAPE = 0.7  # beyond this shape, no practical number of rows estimates the mean


def pareto_shape(log_weights: Float[np.ndarray, " n"]) -> float:
    """The shape k̂ of a generalised Pareto fitted to the largest weights exp(log_weights).

    The tail of the weights falls like w^(−1/k): below ½ their mean has a finite variance, from ½
    on its standard error is too small, and beyond 0.7 (or `1 − 1/log10 n` for few rows) no
    practical number of rows estimates the mean. −∞ if the largest are equal; NaN (unknown) with
    fewer than 25 rows or fewer than 5 above the threshold.

    The fit is Zhang & Stephens' (2009) posterior mean over the `min(n/5, 3√n)` largest, shrunk
    towards ½ by ten rows' worth as in Vehtari et al. (2024), Pareto smoothed importance sampling.
    """
    n = log_weights.size
    m = int(min(0.2 * n, 3.0 * math.sqrt(n)))
    if m < 5:
        return math.nan
    tail = np.sort(log_weights)[-(m + 1) :]
    excess = np.exp(tail[1:] - tail[-1]) - np.exp(tail[0] - tail[-1])
    if excess[-1] <= 0.0:
        return -math.inf
    above = excess[
        excess > 0.0
    ]  # ratios with few distinct values, as of trees, tie with the threshold
    if above.size < 5:
        return math.nan
    shape = _generalised_pareto_shape(above)
    return float((above.size * shape + 10 * 0.5) / (above.size + 10))


def largest_pareto_shape(n: int) -> float:
    """The largest shape k̂ for which the mean of n weights is reliable, min(0.7, 1 − 1/log10 n)."""
    return min(LARGEST_SHAPE, 1.0 - 1.0 / math.log10(n)) if n > 1 else -math.inf


def _generalised_pareto_shape(excess: Float[np.ndarray, " m"]) -> float:
    """k of `(1 + k x/σ)^(−1/k − 1)/σ` for sorted excesses x ≥ 0: a profile-likelihood mean."""
    m = excess.size
    grid = np.arange(1, 30 + int(math.sqrt(m)) + 1)
    quartile = excess[int(m / 4 + 0.5) - 1]
    scale = max(quartile, 1e-300) * 3.0
    theta = 1.0 / excess[-1] + (1.0 - np.sqrt(grid.size / (grid - 0.5))) / scale
    shapes = np.mean(np.log1p(-theta[:, None] * excess), axis=1)
    profile = m * (np.log(-theta / shapes) - shapes - 1.0)
    weight = np.exp(profile - logsumexp(profile))
    return float(np.mean(np.log1p(-np.sum(weight * theta) * excess)))
