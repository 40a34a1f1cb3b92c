"""Gaussian pairs: closed-form log ratio and divergences."""

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import ArrayLike, NDArray

from secant.datasets.pair import Pair

Vector = NDArray[np.float64]

RHO_HALF_NAT = math.sqrt(1.0 - math.exp(-1.0))
"""The correlation whose mutual information is half a nat: `−½ log(1 − ρ²) = ½`."""


def gaussian_pair(
    mean_0: ArrayLike,
    cov_0: ArrayLike,
    mean_1: ArrayLike,
    cov_1: ArrayLike,
    *,
    name: str = "gaussian",
) -> Pair:
    """Two Gaussians, p_0 = N(m_0, S_0) and p_1 = N(m_1, S_1).

    In coordinates `w = Uᵀ L_0⁻¹ (x − m_0)` that make p_0 = N(0, I) and p_1 = N(μ, diag λ):
    `log r = ½ Σ_i [w_i² − (w_i − μ_i)²/λ_i − log λ_i]`,
    `KL = ½ Σ_i [λ_i + μ_i² − 1 − log λ_i]`, `reverse KL = ½ Σ_i [(1 + μ_i²)/λ_i − 1 + log λ_i]`.

    Args:
        mean_0: (d,) mean of p_0.
        cov_0: (d, d) covariance of p_0, positive definite.
        mean_1: (d,) mean of p_1.
        cov_1: (d, d) covariance of p_1, positive definite.
        name: Name of the pair.

    Returns:
        The pair, with both divergences.

    Raises:
        ValueError: If shapes disagree or a covariance is not symmetric positive definite.

    Examples:
        >>> gaussian_pair([0.0], [[1.0]], [2.0], [[1.0]]).kl
        2.0
    """
    p_0 = _gaussian(mean_0, cov_0, "0")
    p_1 = _gaussian(mean_1, cov_1, "1")
    if p_0.mean.shape != p_1.mean.shape:
        raise ValueError(
            f"`mean_1` must have shape {p_0.mean.shape}, as `mean_0` has; got {p_1.mean.shape}."
        )
    ratio = _diagonalise(p_0, p_1)
    return Pair(
        name=name,
        n_features=p_0.mean.size,
        draw_0=p_0.draw,
        draw_1=p_1.draw,
        log_ratio=ratio.log_ratio,
        kl=ratio.kl(),
        reverse_kl=ratio.reverse_kl(),
    )


def block_gaussians(n_features: int, rho: float = RHO_HALF_NAT) -> Pair:
    """Correlated blocks against independence: p_0 = N(0, I), p_1 has 2×2 blocks [[1, ρ], [ρ, 1]].

    The blocks lie over coordinates (2i, 2i+1), so p_0 is the product of the margins of the even
    and the odd columns, and `KL = MI = −(d/4) log(1 − ρ²)`: d/4 nats at the default ρ.

    Args:
        n_features: d, even.
        rho: Correlation inside a block, |ρ| < 1.

    Returns:
        The pair.

    Raises:
        ValueError: If d is odd or |ρ| ≥ 1.

    Examples:
        >>> round(block_gaussians(40).kl, 6)
        10.0
    """
    if n_features < 2 or n_features % 2:
        raise ValueError(f"`n_features` must be even and at least 2; got {n_features}.")
    if not abs(rho) < 1:
        raise ValueError(f"`rho` must lie in (-1, 1); got {rho}.")
    identity, zero = np.eye(n_features), np.zeros(n_features)
    blocks = np.kron(np.eye(n_features // 2), [[1.0, rho], [rho, 1.0]])
    return gaussian_pair(zero, identity, zero, blocks, name=f"block-gaussians-{n_features}d")


def narrow_gaussian(n_features: int, shift: float = 2.0, scale: float = 0.1) -> Pair:
    """A wide Gaussian against a shifted narrow one: p_0 = N(0, I), p_1 = N(s·1/√d, σ² I).

    The mean of p_1 lies at distance s from 0 in every dimension:
    `KL = ½ [d (σ² − 1 − 2 log σ) + s²]`.

    Args:
        n_features: d.
        shift: Distance s between the means.
        scale: Standard deviation σ of p_1, positive.

    Returns:
        The pair.

    Raises:
        ValueError: If `scale` is not positive.

    Examples:
        >>> round(narrow_gaussian(3, shift=2.0, scale=1.0).kl, 6)
        2.0
    """
    if not scale > 0:
        raise ValueError(f"`scale` must be positive; got {scale}.")
    identity, zero = np.eye(n_features), np.zeros(n_features)
    mean_1 = np.full(n_features, shift / math.sqrt(n_features))
    return gaussian_pair(
        zero, identity, mean_1, scale**2 * identity, name=f"narrow-gaussian-{n_features}d"
    )


# eq=False below: JAX hashes what it compiles, and arrays do not hash.


@dataclass(frozen=True, eq=False)
class _Gaussian:
    """N(m, L Lᵀ)."""

    mean: Vector
    factor: Vector

    def draw(self, key: PRNGKeyArray, n: int) -> Array:
        """(n, d) rows `m + L z`."""
        z = jax.random.normal(key, (n, self.mean.size))
        return jnp.asarray(self.mean, z.dtype) + _times(z, self.factor.T)


@dataclass(frozen=True, eq=False)
class _DiagonalRatio:
    """The log ratio in coordinates w = R (x − m_0) where p_0 = N(0, I), p_1 = N(μ, diag λ)."""

    origin: Vector
    rotation: Vector
    mean: Vector
    variance: Vector

    def log_ratio(self, x: Array) -> Array:
        """(n, d) → (n,)."""
        x = jnp.asarray(x)
        w = _times(x - jnp.asarray(self.origin, x.dtype), self.rotation.T)
        mean, variance, log_variance = (
            jnp.asarray(v, w.dtype) for v in (self.mean, self.variance, np.log(self.variance))
        )
        # Summed per coordinate, so that the two quadratic forms cancel before they grow with d.
        return 0.5 * jnp.sum(w**2 - (w - mean) ** 2 / variance - log_variance, axis=-1)

    def kl(self) -> float:
        """E_{p_1}[log r]."""
        terms = self.variance + self.mean**2 - 1 - np.log(self.variance)
        return float(0.5 * terms.sum())

    def reverse_kl(self) -> float:
        """E_{p_0}[−log r]."""
        terms = (1 + self.mean**2) / self.variance - 1 + np.log(self.variance)
        return float(0.5 * terms.sum())


def _diagonalise(p_0: _Gaussian, p_1: _Gaussian) -> _DiagonalRatio:
    """Whiten p_0, then rotate onto the axes of p_1."""
    relative = np.linalg.solve(p_0.factor, p_1.factor)
    # The SVD of L_0⁻¹ L_1 keeps small λ accurate where eigenvalues of its square would not.
    axes, singular_values, _ = np.linalg.svd(relative)
    rotation = np.linalg.solve(p_0.factor.T, axes).T
    return _DiagonalRatio(
        origin=p_0.mean,
        rotation=rotation,
        mean=rotation @ (p_1.mean - p_0.mean),
        variance=singular_values**2,
    )


def _gaussian(mean: ArrayLike, cov: ArrayLike, label: str) -> _Gaussian:
    """Validate the parameters of p_0 or p_1 and factor the covariance."""
    mean, cov = np.asarray(mean, np.float64), np.asarray(cov, np.float64)
    if mean.ndim != 1 or not mean.size:
        raise ValueError(f"`mean_{label}` must have shape (d,), d >= 1; got {mean.shape}.")
    if cov.shape != (mean.size, mean.size):
        expected = (mean.size, mean.size)
        raise ValueError(f"`cov_{label}` must have shape {expected}; got {cov.shape}.")
    if not np.allclose(cov, cov.T):
        raise ValueError(f"`cov_{label}` must be symmetric.")
    try:
        return _Gaussian(mean, np.linalg.cholesky(cov))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"`cov_{label}` must be positive definite.") from error


def _times(x: Array, matrix: NDArray[Any]) -> Array:
    """`x @ matrix` in full precision: accelerators round float32 products to 10 bits otherwise."""
    return jnp.matmul(x, jnp.asarray(matrix, x.dtype), precision="highest")
