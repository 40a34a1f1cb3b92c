"""Mean and covariance of a scaled sample, from rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import kstest, multivariate_normal

from secant.training.devices import summed


@dataclass(frozen=True)
class Gaussian:
    """Mean and covariance of one scaled sample."""

    mean: Float[np.ndarray, " d"]
    covariance: Float[np.ndarray, "d d"]

    @classmethod
    def of(
        cls, blocks: Iterable[Float[np.ndarray, "m d"]], weights: Float[np.ndarray, " n"] | None
    ) -> Gaussian:
        """Weighted moments of rows in blocks, pooled over processes with their own rows."""
        seen, mass, total, product = 0, np.zeros(()), np.zeros(()), np.zeros(())
        for block in blocks:
            x, n = block.astype(np.float64), block.shape[0]
            w = np.ones(n) if weights is None else weights[seen : seen + n]
            seen += n
            mass = mass + w.sum()
            total = total + w @ x
            product = product + (x * w[:, None]).T @ x
        mass, total, product = summed(mass), summed(total), summed(product)
        return cls.shrunk(total / mass, product / mass, int(summed(np.array(seen))))

    @classmethod
    def shrunk(
        cls, mean: Float[np.ndarray, " d"], second: Float[np.ndarray, "d d"], n: int
    ) -> Gaussian:
        """From E[x] and E[x xᵀ]; small samples have the covariance shrunk to its diagonal."""
        covariance = second - np.outer(mean, mean)
        variance = np.maximum(np.diag(covariance), 0.0)
        share = mean.size / (mean.size + n)
        covariance = (1.0 - share) * covariance + share * np.diag(variance)
        ridge = 1e-6 * max(float(variance.mean()), 1e-12) + 1e-12
        return cls(mean, covariance + ridge * np.eye(mean.size))

    def log_density(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """The log density of some rows."""
        found = multivariate_normal(self.mean, self.covariance).logpdf(x)
        return np.atleast_1d(np.asarray(found, dtype=np.float64))

    @property
    def least_variance(self) -> float:
        """The variance in the narrowest direction."""
        return float(np.linalg.eigvalsh(self.covariance)[0])

    @property
    def square(self) -> float:
        """E‖x‖²."""
        return float(self.mean @ self.mean + np.trace(self.covariance))


def is_standard_normal(rows: Float[np.ndarray, "n d"]) -> bool:
    """Whether rows are consistent with N(0, I), by their moments and by their margins.

    A column fails if its Kolmogorov–Smirnov distance exceeds the 1/10,000 critical value by 0.01:
    deviations of 0.01 are tolerated.
    """
    n, d = rows.shape
    allowed = 5.0 / np.sqrt(n) + 0.01
    if np.max(np.abs(rows.mean(axis=0))) > allowed:
        return False
    if np.max(np.abs(np.cov(rows, rowvar=False).reshape(d, d) - np.eye(d))) > 2.0 * allowed:
        return False
    distances = [kstest(column, "norm", method="asymp").statistic for column in rows.T]
    return bool(max(distances) < 2.23 / np.sqrt(n) + 0.01)
