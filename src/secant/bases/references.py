"""Reference densities, sampled and evaluated in compiled programs; an adapter for flowjax."""

from __future__ import annotations

import abc
import math
from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.secant_function import on_device

Rows = Float[Array, "n d"]
Values = Float[Array, " n"]

_NUMBERS_AT_ONCE = 1 << 23  # rows × components × columns of a mixture: 32 MiB in float32


class SampledDensity(Protocol):
    """Interface of a base: a normalised density that can be sampled."""

    def sample(self, key: PRNGKeyArray, n: int) -> Rows:
        """n independent rows."""

    def log_prob(self, x: Rows) -> Values:
        """The log density of each row."""


class Reference(eqx.Module):
    """A normalised density in a chart's coordinates, traceable by JAX."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, n: int) -> Rows:
        """n independent rows."""

    @abc.abstractmethod
    def log_prob(self, y: Rows) -> Values:
        """The log density of each row."""


class StandardNormalReference(Reference):
    """N(0, I)."""

    n_features: int

    def sample(self, key: PRNGKeyArray, n: int) -> Rows:
        """n independent rows."""
        return jax.random.normal(key, (n, self.n_features))

    def log_prob(self, y: Rows) -> Values:
        """The log density of each row."""
        return -0.5 * jnp.sum(y**2, axis=-1) - 0.5 * self.n_features * math.log(2.0 * math.pi)


class GaussianMixtureReference(Reference):
    """Σ_k w_k N(m_k, S_k), S_k = L_k L_kᵀ.

    Attributes:
        log_weights: log w_k.
        means: m_k.
        roots: L_k, lower triangular.
        whiteners: L_k⁻¹ of all components concatenated, for one matrix product.
        log_heights: log w_k − log det L_k − (d/2) log 2π.
    """

    log_weights: Float[Array, " k"]
    means: Float[Array, "k d"]
    roots: Float[Array, "k d d"]
    whiteners: Float[Array, "d kd"]
    log_heights: Float[Array, " k"]

    @classmethod
    def of(
        cls,
        weights: Float[np.ndarray, " k"],
        means: Float[np.ndarray, "k d"],
        covariances: Float[np.ndarray, "k d d"],
    ) -> GaussianMixtureReference:
        """The mixture of these moments."""
        k, d = means.shape
        roots = np.linalg.cholesky(covariances)
        whiteners = np.linalg.inv(roots).transpose(2, 0, 1).reshape(d, k * d)
        log_weights = np.log(np.maximum(weights, 1e-300))
        log_volumes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        log_heights = log_weights - log_volumes - 0.5 * d * math.log(2.0 * math.pi)
        return cls(*map(on_device, (log_weights, means, roots, whiteners, log_heights)))

    def sample(self, key: PRNGKeyArray, n: int) -> Rows:
        """n independent rows: a component, then a Gaussian."""
        key_component, key_noise = jax.random.split(key)
        # Inverse of the cumulative weights: one random number per row instead of one per component.
        ends = jnp.cumsum(jnp.exp(self.log_weights))
        share = jax.random.uniform(key_component, (n,)) * ends[-1]
        component = jnp.minimum(jnp.searchsorted(ends, share, side="right"), ends.size - 1)
        z = jax.random.normal(key_noise, (n, self.means.shape[1]))
        return self.means[component] + jnp.einsum("nij,nj->ni", self.roots[component], z)

    def log_prob(self, y: Rows) -> Values:
        """The log density of each row."""
        at_once = max(_NUMBERS_AT_ONCE // self.means.size, 1)
        return jax.lax.map(
            lambda row: jax.nn.logsumexp(self.log_terms(row[None])[0]), y, batch_size=at_once
        )

    def log_terms(self, y: Rows) -> Float[Array, "n k"]:
        """log w_k N(y; m_k, S_k) for each row and component."""
        k, d = self.means.shape
        shift = jnp.einsum("ki,ikj->kj", self.means, self.whiteners.reshape(d, k, d))
        gap = (y @ self.whiteners).reshape(-1, k, d) - shift
        return self.log_heights - 0.5 * jnp.sum(gap**2, axis=-1)


class _Flow(Protocol):
    """The methods of a `flowjax.distributions.AbstractDistribution` that are used."""

    def sample(self, key: PRNGKeyArray, sample_shape: tuple[int, ...]) -> Float[Array, "n d"]: ...

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]: ...


class FlowJAX(eqx.Module):
    """A distribution of flowjax, trained or not, as a base: `DensityEstimator(FlowJAX(flow))`.

    The ratio then corrects the flow. Install the extra `flows` for flowjax.

    Attributes:
        flow: any distribution of flowjax over rows of d columns.
    """

    flow: _Flow

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """n independent rows."""
        return self.flow.sample(key, (n,))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density of each row."""
        return self.flow.log_prob(x)
