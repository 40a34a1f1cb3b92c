"""Whether weighted rows of one sample can stand for the other, and weights made one a fold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from secant.diagnostics import effective_sample_size, log_normaliser, pareto_shape

__all__ = ["WeightSupport", "fold_normalised"]

# No number of rows in reach averages weights with a tail beyond this. The limit for few rows in
# Vehtari et al. (2024) is left to the effective rows: the shape of 40 rows is mostly its prior.
_LARGEST_SHAPE = 0.7
# Where this share of the rows is effective there is no tail to fit: of bounded weights with two
# humps, 80 % of them effective, the fitted shape was anything from −1.7 to 3.
_MOST = 0.5


@dataclass(frozen=True)
class WeightSupport:
    """What weights say about a mean over them: how many rows carry it, and how heavy the tail is.

    Attributes:
        effective_sample_size: as many equally weighted rows would say as much.
        pareto_shape: of the largest weights; NaN with fewer than 25 rows.
        n_rows: rows behind both.
    """

    effective_sample_size: float
    pareto_shape: float
    n_rows: int

    @classmethod
    def of(cls, log_weights: Float[np.ndarray, " n"]) -> WeightSupport:
        """Of the weights exp(log_weights)."""
        return cls(effective_sample_size(log_weights), pareto_shape(log_weights), log_weights.size)

    @property
    def least_rows(self) -> float:
        """Effective rows below which a weighted mean is not to be believed, as in a fit's own."""
        return max(min(30.0, 0.1 * self.n_rows), 0.01 * self.n_rows)

    @property
    def has_rows(self) -> bool:
        """Whether enough rows carry the mean."""
        return self.effective_sample_size >= self.least_rows

    @property
    def is_enough(self) -> bool:
        """Whether the mean can be believed. Too few rows for a shape are judged by their number."""
        if math.isnan(self.pareto_shape) or self.effective_sample_size >= _MOST * self.n_rows:
            return self.has_rows
        return self.has_rows and self.pareto_shape < _LARGEST_SHAPE

    def __str__(self) -> str:
        return (
            f"effective sample size {self.effective_sample_size:.1f} of {self.n_rows} rows "
            f"(at least {self.least_rows:.0f} wanted), Pareto shape {self.pareto_shape:.2f} "
            f"(below {_LARGEST_SHAPE} wanted)"
        )


def fold_normalised(
    log_weights: Float[np.ndarray, " n"], folds: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """log w with mean w = 1 in every fold: each fold's fit has a normaliser (Z1) of its own."""
    normalised = np.empty_like(log_weights)
    for k in np.unique(folds):
        own = folds == k
        normalised[own] = log_weights[own] - log_normaliser(log_weights[own]).log_value
    return normalised
