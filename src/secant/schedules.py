"""Schedules: the weights (α_t, β_t) that carry x_0 into x_1 as t goes from 0 to 1.

Every schedule starts at (1, 0) and ends at (0, 1), exactly or (VP) up to a known small number.
Rates are always taken by `jax.jvp`; no derivative is typed by hand.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = [
    "Coefficients",
    "Cosine",
    "Foellmer",
    "Linear",
    "Schedule",
    "Trigonometric",
    "VariancePreserving",
]


class Coefficients(NamedTuple):
    """The pair (α_t, β_t), or its rate (α̇_t, β̇_t), each of t's shape."""

    alpha: Float[Array, " *n"]
    beta: Float[Array, " *n"]


class Schedule(eqx.Module):
    """α and β as functions of t.

    `cut` is the share of time left out before t = 1 where the rate of α is unbounded
    (0 where it is bounded everywhere).
    """

    @abc.abstractmethod
    def __call__(self, t: Float[Array, " *n"]) -> Coefficients:
        """The coefficients (α_t, β_t)."""

    @property
    def cut(self) -> float:
        """How much of [0, 1] before t = 1 to avoid because α̇ is unbounded there."""
        return 0.0

    def rates(self, t: Float[Array, " *n"]) -> tuple[Coefficients, Coefficients]:
        """Coefficients and their time derivatives, in one JVP."""
        values, rates = jax.jvp(self.__call__, (t,), (jnp.ones_like(t),))
        return values, rates


class Linear(Schedule):
    """(1 − t, t)."""

    def __call__(self, t: Float[Array, " *n"]) -> Coefficients:
        """The coefficients (α_t, β_t)."""
        return Coefficients(1.0 - t, t)


class Trigonometric(Schedule):
    """(cos πt/2, sin πt/2): keeps the variance of standardised samples, rates bounded."""

    def __call__(self, t: Float[Array, " *n"]) -> Coefficients:
        """The coefficients (α_t, β_t)."""
        angle = 0.5 * jnp.pi * t
        return Coefficients(jnp.cos(angle), jnp.sin(angle))


# α = √(1 − β²) has an infinite slope where β reaches 1. The cut keeps |α̇| below about 100.
_SINGULAR_CUT = 1e-4


def _variance_preserving(beta: Float[Array, " *n"]) -> Coefficients:
    # The floor keeps the derivative at β = 1 finite; α ends at 1e-8 instead of 0.
    return Coefficients(jnp.sqrt(jnp.maximum(1.0 - beta**2, 1e-16)), beta)


class Foellmer(Schedule):
    """(√(1 − t²), t)."""

    @property
    def cut(self) -> float:
        """How much of [0, 1] before t = 1 to avoid because α̇ is unbounded there."""
        return _SINGULAR_CUT

    def __call__(self, t: Float[Array, " *n"]) -> Coefficients:
        """The coefficients (α_t, β_t)."""
        return _variance_preserving(t)


class VariancePreserving(Schedule):
    """The VP diffusion reversed: β = exp(−¼(1−t)²(b_max − b_min) − ½(1−t) b_min), α = √(1−β²).

    β_0 is not 0 but exp(−¼(b_max − b_min) − ½ b_min), 0.0066 at the defaults.
    """

    rate_min: float = 0.1
    rate_max: float = 20.0

    def __check_init__(self) -> None:
        if not 0.0 < self.rate_min < self.rate_max:
            raise ValueError(
                "VariancePreserving needs 0 < rate_min < rate_max; "
                f"got rate_min={self.rate_min}, rate_max={self.rate_max}."
            )

    @property
    def cut(self) -> float:
        """How much of [0, 1] before t = 1 to avoid because α̇ is unbounded there."""
        return _SINGULAR_CUT

    def __call__(self, t: Float[Array, " *n"]) -> Coefficients:
        """The coefficients (α_t, β_t)."""
        age = 1.0 - t
        log_beta = -0.25 * age**2 * (self.rate_max - self.rate_min) - 0.5 * age * self.rate_min
        return _variance_preserving(jnp.exp(log_beta))


class Cosine(Schedule):
    """The cosine diffusion schedule reversed.

    β = cos(π/2 · (1−t+s)/(1+s)) / cos(π/2 · s/(1+s)) with offset s, α = √(1−β²).
    """

    offset: float = 0.008

    def __check_init__(self) -> None:
        if not 0.0 < self.offset < 1.0:
            raise ValueError(f"Cosine needs 0 < offset < 1; got offset={self.offset}.")

    @property
    def cut(self) -> float:
        """How much of [0, 1] before t = 1 to avoid because α̇ is unbounded there."""
        return _SINGULAR_CUT

    def __call__(self, t: Float[Array, " *n"]) -> Coefficients:
        """The coefficients (α_t, β_t)."""
        scale = 0.5 * jnp.pi / (1.0 + self.offset)
        beta = jnp.cos(scale * (1.0 - t + self.offset)) / jnp.cos(scale * self.offset)
        return _variance_preserving(beta)
