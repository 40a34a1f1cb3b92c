"""Charts: invertible maps from the original columns to coordinates in which a base is simple."""

from __future__ import annotations

import abc
import math

import equinox as eqx
import numpy as np
from jaxtyping import Float

from secant._spread import moments

Rows = Float[np.ndarray, "n d"]
Values = Float[np.ndarray, " n"]

_LEAST_VARIANCE = 1e-9  # below this, the variance of a direction is rounding error


class Chart(eqx.Module):
    """y = T(x), one to one, in float64 on the host."""

    @abc.abstractmethod
    def __call__(self, x: Rows) -> Rows:
        """Rows in the chart's coordinates."""

    @abc.abstractmethod
    def inverse(self, y: Rows) -> Rows:
        """Rows in the original columns."""

    @abc.abstractmethod
    def log_volume(self, x: Rows) -> Values:
        """log |det ∂T/∂x| at each row: log p(x) = log p(y) + this."""


class Affine(Chart):
    """y = (x − m) A."""

    mean: Float[np.ndarray, " d"]
    matrix: Float[np.ndarray, "d d"]
    matrix_back: Float[np.ndarray, "d d"]
    log_determinant: float

    @classmethod
    def standardising(cls, x: Rows) -> Affine:
        """Zero mean and unit variance, column by column."""
        mean, scale = moments(np.asarray(x, dtype=np.float64))
        constant = scale <= 1e-12 * np.abs(mean)  # a constant column keeps its scale
        scale = np.where(constant, 1.0, scale)
        return cls(
            mean,
            np.diag(1.0 / scale),
            np.diag(scale),
            -float(np.log(scale).sum()),
        )

    @classmethod
    def whitening(cls, x: Rows) -> Affine:
        """Zero mean and unit covariance by S^(−1/2), the whitening closest to the identity."""
        standard = cls.standardising(x)
        correlation = np.atleast_2d(np.cov(standard(x), rowvar=False))
        # Shrink by as many uncorrelated pseudo-rows as there are columns, for small samples.
        share = x.shape[1] / (x.shape[1] + x.shape[0])
        correlation = (1.0 - share) * correlation + share * np.eye(x.shape[1])
        variance, vectors = np.linalg.eigh(correlation)
        root = np.sqrt(np.maximum(variance, _LEAST_VARIANCE))
        whiten, back = (vectors * r @ vectors.T for r in (1.0 / root, root))
        return cls(
            standard.mean,
            standard.matrix @ whiten,
            back @ standard.matrix_back,
            standard.log_determinant - float(np.log(root).sum()),
        )

    def scaled(self, factor: float) -> Affine:
        """The same coordinates times a factor."""
        return Affine(
            self.mean,
            factor * self.matrix,
            self.matrix_back / factor,
            self.log_determinant + self.mean.size * math.log(factor),
        )

    def __call__(self, x: Rows) -> Rows:
        """Rows in the chart's coordinates."""
        return (np.asarray(x, dtype=np.float64) - self.mean) @ self.matrix

    def inverse(self, y: Rows) -> Rows:
        """Rows in the original columns."""
        return np.asarray(y, dtype=np.float64) @ self.matrix_back + self.mean

    def log_volume(self, x: Rows) -> Values:
        """log |det A|, the same for every row."""
        return np.full(x.shape[0], self.log_determinant)


class Chain(Chart):
    """The composition of charts, in order."""

    first: Chart
    second: Chart

    def __call__(self, x: Rows) -> Rows:
        """Rows in the chart's coordinates."""
        return self.second(self.first(x))

    def inverse(self, y: Rows) -> Rows:
        """Rows in the original columns."""
        return self.first.inverse(self.second.inverse(y))

    def log_volume(self, x: Rows) -> Values:
        """The sum of both log determinants."""
        return self.first.log_volume(x) + self.second.log_volume(self.first(x))
