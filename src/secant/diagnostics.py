"""Diagnostics: can the fitted ratio be trusted, and where can it not?"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from secant.exceptions import OverlapWarning, TrainingWarning
from secant.training.history import Status

__all__ = [
    "Diagnostics",
    "Normaliser",
    "RatioDiagnostics",
    "effective_sample_size",
    "log_normaliser",
    "pareto_shape",
]

_FEW_ROWS = 0.01  # effective share of the rows below which a weighted mean is not to be believed
_FEW = 30.0  # the least effective number of rows, or a tenth of them where there are few


@dataclass(frozen=True)
class Normaliser:
    """log Ẑ = log E_{p_0}[r̂], zero for the true ratio, with its standard error."""

    log_value: float
    standard_error: float


def log_normaliser(log_ratio_0: Float[np.ndarray, " n"]) -> Normaliser:
    """log Ẑ = log mean exp(log r̂(x_0)) over rows of x_0; delta-method standard error."""
    n = log_ratio_0.size
    log_value = float(logsumexp(log_ratio_0) - math.log(n))
    relative = np.exp(log_ratio_0 - log_value)
    return Normaliser(log_value, float(relative.std() / math.sqrt(n)))


def effective_sample_size(log_weights: Float[np.ndarray, " n"]) -> float:
    """(Σ w)² / Σ w² for w = exp(log_weights): as many equal weights would say as much."""
    return float(np.exp(2.0 * logsumexp(log_weights) - logsumexp(2.0 * log_weights)))


def pareto_shape(log_weights: Float[np.ndarray, " n"]) -> float:
    """The shape k̂ of a generalised Pareto fitted to the largest weights exp(log_weights).

    The tail of the weights falls like w^(−1/k): below ½ their mean has a finite variance, from ½
    on its standard error is too small, and beyond 0.7 (or `1 − 1/log10 n` for few rows) no number
    of rows in reach gives the mean. NaN with fewer than 25 rows, −∞ where the largest are equal.

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
    shape = _generalised_pareto_shape(excess)
    return float((m * shape + 10 * 0.5) / (m + 10))


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


@dataclass(frozen=True)
class RatioDiagnostics:
    """What any fit says about its ratio, on rows it was not trained on.

    Attributes:
        held_out_loss: the loss the estimator is judged by; lower is better. If better than no
            model, J of the velocity form is below 0, the logistic loss below 2 log 2.
        held_out_error: its standard error.
        normaliser: log Ẑ with its standard error. Past about 10 nats between the samples, plain
            Monte Carlo says nothing about it; the effective sample size tells.
        effective_sample_size: of x_0's rows weighted by the ratio.
        n_rows: rows of x_0 behind the two lines above.
        mean_log_ratio_0: mean of the log ratio over held-out rows of x_0 (−KL(p_0‖p_1) if exact).
        mean_log_ratio_1: the same over x_1 (KL(p_1‖p_0) if exact).
    """

    held_out_loss: float
    held_out_error: float
    normaliser: Normaliser
    effective_sample_size: float
    n_rows: int
    mean_log_ratio_0: float
    mean_log_ratio_1: float

    @property
    def has_overlap(self) -> bool:
        """Whether weighted means over x_0 rest on enough rows to be believed."""
        least = max(min(_FEW, 0.1 * self.n_rows), _FEW_ROWS * self.n_rows)
        return self.effective_sample_size >= least

    def warn(self) -> None:
        """Issue the named warnings this fit deserves."""
        if not self.has_overlap:
            warnings.warn(
                f"effective sample size {self.effective_sample_size:.1f} of {self.n_rows} held-out "
                "rows of x_0: the samples hardly overlap. The log ratio and its mean over x_1 can "
                "be used; importance weights and the normaliser cannot. Collect x_0 rows nearer "
                "to x_1, or compare fewer features.",
                OverlapWarning,
                stacklevel=3,
            )


@dataclass(frozen=True)
class Diagnostics(RatioDiagnostics):
    """The same of a trained network, and how its training went.

    Attributes:
        status: how training ended.
        best_step: the step whose weights are kept.
        steps: steps done.
        seconds: wall-clock seconds of training.
    """

    status: Status
    best_step: int
    steps: int
    seconds: float

    def warn(self) -> None:
        """Issue the named warnings this fit deserves."""
        if not self.status.is_good:
            warnings.warn(self.status.value, TrainingWarning, stacklevel=3)
        super().warn()
