"""Curves, circles and points with isotropic Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import i0e
from jaxtyping import Array, PRNGKeyArray
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from secant.datasets.toys.toy import Toy


def swissroll() -> Toy:
    """`(t cos t, t sin t)/5`, t uniform on [1.5π, 4.5π], with noise 0.2."""
    noisy = _NoisyCurves(_roll, n_arms=1, noise=0.2, n_nodes=256)
    return Toy("swissroll", noisy.draw, noisy.log_density)


def moons() -> Toy:
    """Two half circles of radius 2 about (−1, −0.2) and (1, 0.8), with noise 0.2."""
    noisy = _NoisyCurves(_moon, n_arms=2, noise=0.2, n_nodes=96)
    return Toy("moons", noisy.draw, noisy.log_density)


def two_spirals() -> Toy:
    """`±(−t cos t, t sin t)/3`, t = 3π√u with u uniform, with noise 0.1.

    The usual definition also shifts each coordinate by U(0, 0.5)/3, separately for the two arms.
    Without it the noise is isotropic and the density a one-dimensional integral.
    """
    noisy = _NoisyCurves(_spiral, n_arms=2, noise=0.1, n_nodes=384)
    return Toy("2spirals", noisy.draw, noisy.log_density)


@dataclass(frozen=True)
class _NoisyCurves:
    """An arm k at random, a point `c_k(s)`, s = √u with u uniform, and N(0, σ² I).

    `p(x) = (1/K) Σ_k ∫_0^1 N(x; c_k(√u), σ² I) du`, by Gauss–Legendre in s, du = 2s ds: the
    density of a mixture with a component at each node. Near 0 a spiral is smooth in s, not in u.
    Nodes at most 0.9 σ apart integrate a Gaussian to 1e-8 of its peak.
    """

    curve: Callable[[Array, Array], Array]
    n_arms: int
    noise: float
    n_nodes: int

    def draw(self, key: PRNGKeyArray, n: int) -> Array:
        """(n, 2) rows."""
        arm_key, curve_key, noise_key = jax.random.split(key, 3)
        arm = jax.random.randint(arm_key, (n,), 0, self.n_arms)
        s = jnp.sqrt(jax.random.uniform(curve_key, (n,)))
        return self.curve(arm, s) + self.noise * jax.random.normal(noise_key, (n, 2))

    def log_density(self, x: Array) -> Array:
        """(n, 2) → (n,)."""
        return self._mixture.log_density(x)

    @cached_property
    def _mixture(self) -> IsotropicMixture:
        """The nodes of the quadrature, as Gaussians."""
        nodes, weights = leggauss(self.n_nodes)
        s = np.tile((nodes + 1) / 2, self.n_arms)
        arm = np.repeat(np.arange(self.n_arms), self.n_nodes)
        masses = s * np.tile(weights, self.n_arms) / self.n_arms
        # Evaluated eagerly and in double precision, also while a program is traced.
        with jax.ensure_compile_time_eval(), jax.enable_x64(True):
            centres = np.asarray(self.curve(jnp.asarray(arm), jnp.asarray(s)))
        return IsotropicMixture(centres, masses, self.noise)


# Module-level functions, unlike closures, can be pickled.


def _roll(_: Array, s: Array) -> Array:
    """(n,) → (n, 2)."""
    t = 1.5 * math.pi * (1 + 2 * s**2)
    return t[:, None] * _on_circle(t) / 5


def _moon(arm: Array, s: Array) -> Array:
    """(n,) and (n,) → (n, 2): the second moon is the first, rotated by π and shifted."""
    sign, angle = 1 - 2 * arm[:, None], math.pi * s**2
    return sign * (2 * _on_circle(angle) - jnp.array([1.0, 0.5])) + jnp.array([0.0, 0.3])


def _spiral(arm: Array, s: Array) -> Array:
    """(n,) and (n,) → (n, 2): the second arm is the first, rotated by π."""
    sign, t = 1 - 2 * arm[:, None], 3 * math.pi * s
    return sign * t[:, None] * _on_circle(t) * jnp.array([-1.0, 1.0]) / 3


def _on_circle(angle: Array) -> Array:
    """(n,) → (n, 2)."""
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)


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
