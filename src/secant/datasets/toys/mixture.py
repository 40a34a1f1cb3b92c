"""Mixtures of isotropic Gaussians of one scale, in the plane."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import NDArray

from secant.datasets.toys.toy import Toy

__all__ = ["IsotropicMixture", "eight_gaussians"]

_ROWS_AT_ONCE = 4096  # times up to 768 components, 12 MB in float32


def eight_gaussians() -> Toy:
    """Eight Gaussians of scale 0.5/1.414 on a circle of radius 4/1.414."""
    angles = np.arange(8) * math.pi / 4
    # 1.414 and not √2, as in the data of the literature.
    centres = 4 / 1.414 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    mixture = IsotropicMixture(centres, np.full(8, 1 / 8), scale=0.5 / 1.414)
    return Toy("8gaussians", mixture.draw, mixture.log_density)


@dataclass(frozen=True, eq=False)  # JAX hashes what it compiles, and arrays do not hash
class IsotropicMixture:
    """`Σ_k w_k N(c_k, σ² I)` in the plane, with (K, 2) centres and (K,) weights."""

    centres: NDArray[np.float64]
    weights: NDArray[np.float64]
    scale: float

    def draw(self, key: PRNGKeyArray, n: int) -> Array:
        """(n, 2) rows: a component, then a Gaussian."""
        component_key, noise_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, (n, 2))
        centres = jnp.asarray(self.centres, noise.dtype)
        component = jax.random.categorical(component_key, np.log(self.weights), shape=(n,))
        return centres[component] + self.scale * noise

    def log_density(self, x: Array) -> Array:
        """(n, 2) → (n,), a few thousand rows at a time: (n, K) may not fit in memory."""
        return jax.lax.map(self._point_log_density, jnp.asarray(x), batch_size=_ROWS_AT_ONCE)

    def _point_log_density(self, point: Array) -> Array:
        """(2,) → ()."""
        log_heights = np.log(self.weights) - math.log(2 * math.pi * self.scale**2)
        centres, heights = (jnp.asarray(v, point.dtype) for v in (self.centres, log_heights))
        z = (point - centres) / self.scale
        return jax.nn.logsumexp(heights - 0.5 * jnp.sum(z**2, axis=1))
