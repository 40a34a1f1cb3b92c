"""The normaliser log Ẑ, the effective sample size, and the Pareto shape of the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

_FEW_ROWS = 0.01  # minimum effective share of the rows for a reliable weighted mean
_FEW = 30.0  # minimum effective number of rows; for few rows, a tenth of them


def least_effective_rows(n: int) -> float:
    """Minimum effective sample size of n rows for a reliable weighted mean."""
    return max(min(_FEW, 0.1 * n), _FEW_ROWS * n)


def has_enough_rows(effective: float, n: int) -> bool:
    """Whether the effective sample size of n rows suffices for a reliable weighted mean."""
    return effective >= least_effective_rows(n)


@dataclass(frozen=True)
class Normaliser:
    """log Ẑ = log E_{p_0}[r̂] (Z1), zero for the true ratio, with its standard error.

    Attributes:
        log_value: log Ẑ, in nats.
        standard_error: by the delta method; too small where the weights have heavy tails.
        pareto_shape: k̂ of the ratio's largest values; NaN if unknown.
        n_rows: number of rows of x_0.
    """

    log_value: float
    standard_error: float
    pareto_shape: float = math.nan
    n_rows: int = 0

    @property
    def effective_rows(self) -> float:
        """Effective sample size, 1/(se² + 1/n)."""
        return 1.0 / (self.standard_error**2 + 1.0 / self.n_rows) if self.n_rows else 0.0

    @property
    def is_heavy_tailed(self) -> bool:
        """Whether k̂ is too large for a mean of `n_rows` rows, or unknown."""
        return not self.pareto_shape < largest_pareto_shape(self.n_rows)

    @property
    def is_reliable(self) -> bool:
        """Whether log Ẑ and its standard error are reliable."""
        return not self.is_heavy_tailed and has_enough_rows(self.effective_rows, self.n_rows)

    @property
    def doubt(self) -> str | None:
        """Why the estimate is unreliable, with the number; None if it is reliable."""
        if self.is_reliable:
            return None
        if math.isnan(self.pareto_shape):
            return f"{self.n_rows} rows of x_0 are too few, or their weights too equal for a tail"
        if self.is_heavy_tailed:
            most = largest_pareto_shape(self.n_rows)
            return f"heavy-tailed weights, Pareto shape {self.pareto_shape:.2f}, at most {most:.2f}"
        return f"{self.effective_rows:.1f} effective rows of {self.n_rows}"

    def __str__(self) -> str:
        """log Ẑ ± its standard error, and why it is unreliable if it is."""
        value = f"{self.log_value:+.3f} ± {self.standard_error:.3f} nats"
        return value if self.doubt is None else f"{value}, unreliable: {self.doubt}"


def log_normaliser(log_ratio_0: Float[np.ndarray, " n"]) -> Normaliser:
    """log Ẑ = log mean exp(log r̂(x_0)) over rows of x_0; delta-method standard error."""
    n = log_ratio_0.size
    log_value = float(logsumexp(log_ratio_0) - math.log(n))
    relative = np.exp(log_ratio_0 - log_value)
    error = float(relative.std() / math.sqrt(n))
    return Normaliser(log_value, error, pareto_shape(log_ratio_0), n)


def effective_sample_size(log_weights: Float[np.ndarray, " n"]) -> float:
    """Effective sample size (Σ w)² / Σ w² of the weights w = exp(log_weights)."""
    return float(np.exp(2.0 * logsumexp(log_weights) - logsumexp(2.0 * log_weights)))


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
