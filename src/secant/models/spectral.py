"""The spectral secant (B1): polynomial in time, exact secants, the log ratio as one output."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.networks import ResidualMLP, Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction


def legendre_basis(t: Float[Array, " *n"], order: int) -> Float[Array, "*n {order}"]:
    """Orthonormal shifted Legendre polynomials P̃_0 … P̃_{order−1} on [0, 1].

    P̃_k(t) = √(2k+1) P_k(2t−1), by the three-term recurrence.
    """
    y = 2.0 * t - 1.0
    values = [jnp.ones_like(y), y][:order]
    for k in range(1, order - 1):
        values.append(((2 * k + 1) * y * values[k] - k * values[k - 1]) / (k + 1))
    return jnp.stack(values, axis=-1) * np.sqrt(2.0 * np.arange(order) + 1.0).astype(y.dtype)


def interval_mean_basis(
    l: Float[Array, " *n"], t: Float[Array, " *n"], order: int
) -> Float[Array, "*n {order}"]:
    """The mean of each P̃_k over [l, t].

    Gauss–Legendre quadrature with ⌈order/2⌉ nodes is exact for these degrees, equals P̃_k(t) at
    l = t, and does not divide by t − l.
    """
    nodes, weights = np.polynomial.legendre.leggauss((order + 1) // 2)
    times = l[..., None] + (t - l)[..., None] * (0.5 * (nodes + 1.0)).astype(t.dtype)
    return jnp.einsum("...mk,m->...k", legendre_basis(times, order), 0.5 * weights.astype(t.dtype))


class SpectralSecant(ModelBuilder):
    """f(x, t) = Σ_k h_k(x) P̃_k(t) with one trunk x ↦ (h_0 … h_{order−1}) (B1).

    The secant is exact and additive over intervals by construction, and u(x, 0, 1) = h_0(x).
    """

    order: int = 12
    trunk: TrunkBuilder = ResidualMLP()

    def __check_init__(self) -> None:
        if self.order < 1:
            raise ValueError(f"SpectralSecant needs order >= 1; got {self.order}.")

    def build(self, n_features: int, *, key: PRNGKeyArray) -> SecantFunction:
        """A model with fresh parameters."""
        return _SpectralFunction(self.trunk.build(n_features, self.order, key=key), self.order)


class _SpectralFunction(SecantFunction):
    saved_as: ClassVar[str] = "SpectralFunction"

    trunk: Trunk
    order: int = eqx.field(static=True)

    def coefficients(self, x: Float[Array, "n d"]) -> Float[Array, "n order"]:
        """h_0(x) … h_{order−1}(x)."""
        return jax.vmap(self.trunk)(x)

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n order"]:
        return self.coefficients(x) * interval_mean_basis(l, t, self.order)

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """h_0(x): all other polynomials have mean 0 over [0, 1]."""
        return self.coefficients(x)[:, 0]

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        return jnp.sum(self.coefficients(x) * legendre_basis(t, self.order), axis=-1)

    def implied_tangent(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The time score itself: (S1) holds by construction."""
        del l
        return self.time_score(x, t)
