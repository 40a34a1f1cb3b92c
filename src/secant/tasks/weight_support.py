"""Whether weighted rows of one sample represent the other, and weights of mean 1 per fold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from secant.diagnostics import (
    LARGEST_SHAPE,
    effective_sample_size,
    least_effective_rows,
    log_normaliser,
    pareto_shape,
)
from secant.tasks.cross_fitting import CrossFit

# Above this effective share the shape is not used: for bounded bimodal weights with an effective
# share of 80 %, fitted shapes range from −1.7 to 3.
_MOST = 0.5


@dataclass(frozen=True)
class WeightSupport:
    """Effective sample size and tail of weights.

    Attributes:
        effective_sample_size: number of equally weighted rows with the same variance.
        pareto_shape: of the largest weights; NaN with fewer than 25 rows.
        n_rows: number of rows.
        expected_rows: upper limit on the effective sample size, given the divergence (J7). If no
            row is near the other sample, all weights are similar, and only this limit shows it.
    """

    effective_sample_size: float
    pareto_shape: float
    n_rows: int
    expected_rows: float

    @classmethod
    def of(
        cls,
        log_weights: Float[np.ndarray, " n"],
        log_weights_on_top: Float[np.ndarray, " m"] | None = None,
    ) -> WeightSupport:
        """From the log weights, of mean 1, and the log ratios of the sample they represent."""
        n = log_weights.size
        divergence = 0.0 if log_weights_on_top is None else float(log_weights_on_top.mean())
        return cls(
            effective_sample_size(log_weights),
            pareto_shape(log_weights),
            n,
            n * math.exp(-max(divergence, 0.0)),
        )

    @property
    def least_rows(self) -> float:
        """Minimum effective sample size for a reliable weighted mean, as in diagnostics."""
        return least_effective_rows(self.n_rows)

    @property
    def has_rows(self) -> bool:
        """Whether the effective sample size is large enough."""
        return self._rows >= self.least_rows

    @property
    def is_enough(self) -> bool:
        """Whether the mean is reliable; without a shape, by the effective number only."""
        if math.isnan(self.pareto_shape) or self._rows >= _MOST * self.n_rows:
            return self.has_rows
        # Without the limit for few rows of Vehtari et al. (2024): the shape of 40 rows is mostly
        # its prior, and the effective sample size decides.
        return self.has_rows and self.pareto_shape < LARGEST_SHAPE

    @property
    def _rows(self) -> float:
        return min(self.effective_sample_size, self.expected_rows)

    def __str__(self) -> str:
        expected = ""
        if self.expected_rows < self.effective_sample_size:
            expected = f", of which {self.expected_rows:.2g} can be real at this divergence"
        return (
            f"effective sample size {self.effective_sample_size:.1f} of {self.n_rows} rows"
            f"{expected} (at least {self.least_rows:.0f} wanted), Pareto shape "
            f"{self.pareto_shape:.2f} (below {LARGEST_SHAPE} wanted)"
        )


def fold_normalised(
    scores: CrossFit,
) -> tuple[Float[np.ndarray, " n_0"], Float[np.ndarray, " n_1"]]:
    """log r̂ of x_0's and of x_1's rows, with mean r̂ = 1 over x_0's rows in every fold.

    Each fold's fit has a normaliser (Z1) of its own.
    """
    zero, one = scores.log_ratio_0.copy(), scores.log_ratio_1.copy()
    for k, (below, _) in enumerate(scores.by_fold()):
        log_value = log_normaliser(below).log_value
        zero[scores.fold_0 == k] -= log_value
        one[scores.fold_1 == k] -= log_value
    return zero, one
