"""Concentric circles with isotropic Gaussian noise: `circles` and `rings`."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.scipy.special import i0e
from jaxtyping import Array, PRNGKeyArray

from secant.datasets.toys.toy import Toy

__all__ = ["circles", "rings"]


def circles() -> Toy:
    """Two circles of radii 1.5 and 3 with noise 0.24, equally likely."""
    noisy = _NoisyCircles(radii=(1.5, 3.0), noise=0.24)
    return Toy("circles", noisy.draw, noisy.log_density)


def rings() -> Toy:
    """Four circles of radii 0.75, 1.5, 2.25 and 3 with noise 0.08, equally likely."""
    noisy = _NoisyCircles(radii=(0.75, 1.5, 2.25, 3.0), noise=0.08)
    return Toy("rings", noisy.draw, noisy.log_density)


@dataclass(frozen=True)
class _NoisyCircles:
    """A radius R at random, a uniform angle, and N(0, σ² I).

    With ρ = ‖x‖, the angle integrates to a Bessel function:
    `p(x | R) = exp(−(ρ − R)²/2σ²) e^{−z} I_0(z) / 2πσ²`, `z = ρR/σ²`.
    """

    radii: tuple[float, ...]
    noise: float

    def draw(self, key: PRNGKeyArray, n: int) -> Array:
        """(n, 2) rows."""
        radius_key, angle_key, noise_key = jax.random.split(key, 3)
        radius = jax.random.choice(radius_key, jnp.asarray(self.radii), (n,))
        angle = jax.random.uniform(angle_key, (n,), maxval=2 * math.pi)
        points = radius[:, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
        return points + self.noise * jax.random.normal(noise_key, (n, 2))

    def log_density(self, x: Array) -> Array:
        """(n, 2) → (n,)."""
        x = jnp.asarray(x)
        rho, radii = jnp.hypot(x[:, 0], x[:, 1])[:, None], jnp.asarray(self.radii, x.dtype)
        variance = self.noise**2
        log_each = jnp.log(i0e(rho * radii / variance)) - (rho - radii) ** 2 / (2 * variance)
        normaliser = math.log(2 * math.pi * variance * len(self.radii))
        return jax.nn.logsumexp(log_each, axis=1) - normaliser
