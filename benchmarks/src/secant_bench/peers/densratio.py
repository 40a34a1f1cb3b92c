"""The `densratio` package: RuLSIF with its own selection of kernels."""

from __future__ import annotations

from typing import Self

import numpy as np
from jaxtyping import Float

from secant_bench.benchmark import Skipped

__all__ = ["DensRatio"]

Rows = Float[np.ndarray, "n d"]

_LEAST = 1e-3  # its ratio is 0 far from all centres; a lower floor would let those rows dominate


class DensRatio:
    """`densratio(x_1, x_0)` with its defaults, on the first rows of each sample.

    Its time grows with the square of the number of rows: 4,000 took 21 seconds on one core.
    """

    def __init__(self, n_rows: int = 5_000, random_state: int | None = None) -> None:
        self.n_rows = n_rows
        self.random_state = random_state

    def fit_samples(self, x_0: Rows, x_1: Rows) -> Self:
        """Fit; the package draws its kernels from NumPy's global state."""
        try:
            from densratio import densratio
        except ImportError:
            raise Skipped(
                "densratio is not installed: pip install 'secant-bench[densratio]'."
            ) from None
        np.random.seed(self.random_state)
        self._found = densratio(x_1[: self.n_rows], x_0[: self.n_rows], verbose=False)
        return self

    def log_ratio(self, X: Rows) -> Float[np.ndarray, " n"]:
        """The logarithm of its ratio, bounded away from 0."""
        ratio = np.asarray(self._found.compute_density_ratio(X), dtype=np.float64)
        return np.asarray(np.log(np.maximum(ratio, _LEAST)))
