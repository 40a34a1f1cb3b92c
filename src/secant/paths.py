"""Paths: x_t = α_t x_0 + β_t x_1 + γ_t z, its velocity, and the conditional time score (C1)."""

from __future__ import annotations

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.schedules import Schedule, Trigonometric

__all__ = [
    "Conditional",
    "DiffusionBridge",
    "DiffusionInterpolant",
    "Moments",
    "Path",
    "PathPoint",
    "conditional_time_score",
    "conditional_variance",
]


class Moments(NamedTuple):
    """E‖x_0‖², E‖x_1‖² and ⟨E x_0, E x_1⟩: what E‖μ̇_t‖² needs."""

    square_0: float
    square_1: float
    cross: float


class Conditional(NamedTuple):
    """The Gaussian x_t | y ~ N(μ_t, σ_t² I) at one point: what (C1) needs."""

    noise: Float[Array, "*n d"]  # ε = (x_t − μ_t) / σ_t
    mean_rate: Float[Array, "*n d"]  # μ̇_t
    scale: Float[Array, " *n"]  # σ_t
    scale_rate: Float[Array, " *n"]  # σ̇_t


class PathPoint(NamedTuple):
    """A draw x_t from the path with its velocity ẋ_t, both of shape (…, d)."""

    x_t: Float[Array, "*n d"]
    velocity: Float[Array, "*n d"]


def conditional_time_score(given: Conditional) -> Float[Array, "*n d"]:
    """(C1) per coordinate: (ε_i² − 1) σ̇/σ + ε_i μ̇_i/σ. Sum the last axis for ∂_t log p_t(x_t|y)."""
    scale, scale_rate = given.scale[..., None], given.scale_rate[..., None]
    return ((given.noise**2 - 1.0) * scale_rate + given.noise * given.mean_rate) / scale


def conditional_variance(given: Conditional) -> Float[Array, "*n d"]:
    """Variance of (C1) given y, per coordinate: 2 (σ̇/σ)² + μ̇_i²/σ². Sum for the scalar target."""
    scale, scale_rate = given.scale[..., None], given.scale_rate[..., None]
    return (2.0 * scale_rate**2 + given.mean_rate**2) / scale**2


class Path(eqx.Module):
    """A family of distributions p_t between p_0 and p_1, given by its samples.

    Attributes:
        schedule: the weights (α_t, β_t).
        end_cut: share of time kept away from an end where (C1) is singular. The velocity form
            uses the whole of [0, 1] wherever the path's own rates are bounded.
    """

    schedule: Schedule = Trigonometric()
    end_cut: float = 1e-3

    def __check_init__(self) -> None:
        if not 0.0 < self.end_cut < 0.5:
            raise ValueError(f"end_cut must lie in (0, 0.5); got {self.end_cut}.")

    @abc.abstractmethod
    def noise_scale(self, t: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """γ_t, the weight of the fresh Gaussian noise z."""

    @abc.abstractmethod
    def conditional(
        self,
        x_0: Float[Array, "*n d"],
        x_1: Float[Array, "*n d"],
        z: Float[Array, "*n d"],
        t: Float[Array, " *n"],
    ) -> Conditional:
        """The Gaussian conditional of the path at the drawn point."""

    def noise(self, key: PRNGKeyArray, like: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """Fresh z ~ N(0, I) in the shape of some rows."""
        return jax.random.normal(key, like.shape, like.dtype)

    @property
    def needs_standard_normal(self) -> bool:
        """Whether (C1) holds only where x_0 ~ N(0, I)."""
        return False

    @property
    def time_range(self) -> tuple[float, float]:
        """Times at which the velocity ẋ_t is bounded."""
        return 0.0, 1.0 - self.schedule.cut

    @property
    def conditional_time_range(self) -> tuple[float, float]:
        """Times at which (C1) is finite; noise at both ends keeps σ_t away from 0."""
        return self.time_range

    @abc.abstractmethod
    def mean_conditional_variance(
        self, t: Float[Array, " *n"], moments: Moments, n_features: int
    ) -> Float[Array, " *n"]:
        """E_y of the variance of (C1): 2d (σ̇/σ)² + E‖μ̇‖²/σ².

        A function of t alone. A weight that also depends on y would bias the regression.
        """

    def point(
        self,
        x_0: Float[Array, "*n d"],
        x_1: Float[Array, "*n d"],
        z: Float[Array, "*n d"],
        t: Float[Array, " *n"],
    ) -> PathPoint:
        """x_t and ẋ_t, the latter as the time derivative of the former at fixed (x_0, x_1, z)."""

        def position(time: Float[Array, " *n"]) -> Float[Array, "*n d"]:
            alpha, beta = self.schedule(time)
            gamma = self.noise_scale(time)
            return alpha[..., None] * x_0 + beta[..., None] * x_1 + gamma[..., None] * z

        return PathPoint(*jax.jvp(position, (t,), (jnp.ones_like(t),)))


class DiffusionInterpolant(Path):
    """x_t = α_t x_0 + β_t x_1 (DI, no fresh noise).

    Its conditional given y = x_1 is N(β_t x_1, α_t² I) **only when p_0 = N(0, I)**. The velocity
    form has no such requirement.
    """

    @property
    def needs_standard_normal(self) -> bool:
        """Whether (C1) holds only where x_0 ~ N(0, I)."""
        return True

    def noise_scale(self, t: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """γ_t = 0."""
        return jnp.zeros_like(t)

    def noise(self, key: PRNGKeyArray, like: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """Zeros, because the noise has weight γ_t = 0 and need not be drawn."""
        del key
        return jnp.zeros_like(like)

    @property
    def conditional_time_range(self) -> tuple[float, float]:
        """Times at which (C1) is finite: σ_t = α_t vanishes at t = 1."""
        return 0.0, 1.0 - self.end_cut

    def conditional(
        self,
        x_0: Float[Array, "*n d"],
        x_1: Float[Array, "*n d"],
        z: Float[Array, "*n d"],
        t: Float[Array, " *n"],
    ) -> Conditional:
        """Given y = x_1, with x_0 itself as the standard normal noise."""
        (alpha, _), (alpha_rate, beta_rate) = self.schedule.rates(t)
        return Conditional(x_0, beta_rate[..., None] * x_1, alpha, alpha_rate)

    def mean_conditional_variance(
        self, t: Float[Array, " *n"], moments: Moments, n_features: int
    ) -> Float[Array, " *n"]:
        """2d (α̇/α)² + β̇² E‖x_1‖²/α²."""
        (alpha, _), (alpha_rate, beta_rate) = self.schedule.rates(t)
        return (2.0 * n_features * alpha_rate**2 + beta_rate**2 * moments.square_1) / alpha**2


class DiffusionBridge(Path):
    """The dequantified diffusion bridge (DDBI): γ_t² = t(1−t) γ² + (α_t² + β_t²) ε, any p_0, p_1.

    Attributes:
        gamma: γ, the noise in the middle of the path. The variance of the conditional time score
            is proportional to 1/γ_t²: with γ = 0.1 the paper's method estimated 3.5 of 10 nats on
            40-dimensional block Gaussians; with γ = 1 its error was below one nat.
        epsilon: ε, the variance added at (and near) the ends. Both samples are blurred by it,
            and it keeps the noise rate bounded; so it must be positive.
    """

    gamma: float = 1.0
    epsilon: float = 0.01

    def __check_init__(self) -> None:
        if self.gamma < 0.0 or self.epsilon <= 0.0:
            raise ValueError(
                "DiffusionBridge needs gamma >= 0 and epsilon > 0; "
                f"got gamma={self.gamma}, epsilon={self.epsilon}."
            )

    def noise_scale(self, t: Float[Array, " *n"]) -> Float[Array, " *n"]:
        """γ_t = √(t(1−t) γ² + (α_t² + β_t²) ε)."""
        alpha, beta = self.schedule(t)
        return jnp.sqrt(t * (1.0 - t) * self.gamma**2 + (alpha**2 + beta**2) * self.epsilon)

    def conditional(
        self,
        x_0: Float[Array, "*n d"],
        x_1: Float[Array, "*n d"],
        z: Float[Array, "*n d"],
        t: Float[Array, " *n"],
    ) -> Conditional:
        """Given y = (x_0, x_1)."""
        _, (alpha_rate, beta_rate) = self.schedule.rates(t)
        scale, scale_rate = jax.jvp(self.noise_scale, (t,), (jnp.ones_like(t),))
        mean_rate = alpha_rate[..., None] * x_0 + beta_rate[..., None] * x_1
        return Conditional(z, mean_rate, scale, scale_rate)

    def mean_conditional_variance(
        self, t: Float[Array, " *n"], moments: Moments, n_features: int
    ) -> Float[Array, " *n"]:
        """2d (γ̇_t/γ_t)² + E‖α̇ x_0 + β̇ x_1‖²/γ_t², x_0 and x_1 drawn independently."""
        _, (alpha_rate, beta_rate) = self.schedule.rates(t)
        scale, scale_rate = jax.jvp(self.noise_scale, (t,), (jnp.ones_like(t),))
        mean_rate_square = (
            alpha_rate**2 * moments.square_0
            + beta_rate**2 * moments.square_1
            + 2.0 * alpha_rate * beta_rate * moments.cross
        )
        return (2.0 * n_features * scale_rate**2 + mean_rate_square) / scale**2
