"""Gaussian kernels around centres: the features of a linear model of the ratio."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import TypeVar

import jax
import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import cdist

__all__ = ["GaussianBasis", "Numbers", "median_distance", "squared_distances"]

Numbers = TypeVar("Numbers", np.ndarray, jax.Array)

# Directions of the kernel matrix with less than this share of the largest are rounding noise.
_LEAST_EIGENVALUE = 1e-12


def squared_distances(
    x: Float[np.ndarray, "n d"], centers: Float[np.ndarray, "b d"]
) -> Float[np.ndarray, "n b"]:
    """‖x − c_k‖² for all rows and centres."""
    return cdist(x, centers, "sqeuclidean")


def median_distance(squared: Float[np.ndarray, "n b"]) -> float:
    """The median of the positive distances, the unit in which bandwidths are searched; or 1."""
    positive = squared[squared > 0.0]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0


@dataclass(frozen=True)
class GaussianBasis:
    """φ_k(x) = exp(−‖x − c_k‖²/2σ²), or combinations of them.

    Attributes:
        centers: c_k, shape (b, d).
        bandwidth: σ.
        mixing: None for the kernels themselves, or a matrix (b, m) of m combinations.
    """

    centers: Float[np.ndarray, "b d"]
    bandwidth: float
    mixing: Float[np.ndarray, "b m"] | None = None

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """Features of some rows."""
        return self.at(squared_distances(x, self.centers))

    def at(self, squared: Numbers, xp: ModuleType = np) -> Numbers:
        """Features (n, m) of rows at these squared distances (n, b); by NumPy or JAX."""
        kernels = xp.exp(squared * (-0.5 / self.bandwidth**2))
        mixed: Numbers = kernels if self.mixing is None else kernels @ self.mixing
        return mixed

    def orthonormal(self) -> GaussianBasis:
        """The same span, orthonormal in the kernel's Hilbert space: ‖Φθ‖ = ‖θ‖ (D4)."""
        values, vectors = np.linalg.eigh(replace(self, mixing=None)(self.centers))
        kept = values > _LEAST_EIGENVALUE * values[-1]
        return replace(self, mixing=vectors[:, kept] / np.sqrt(values[kept]))
