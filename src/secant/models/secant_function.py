"""The contract of every model: a function u(x, l, t) with its tangent u(x, t, t)."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["ModelBuilder", "SecantFunction"]


class SecantFunction(eqx.Module):
    """A model of the secant u(x, l, t) and the time score s(x, t) = u(x, t, t), row by row.

    A model may answer in several *parts* whose sum is the secant; the vectorised conditional
    target trains one part a coordinate.
    """

    @abc.abstractmethod
    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """Summands of u(x, l, t)."""

    @abc.abstractmethod
    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """s(x, t)."""

    def secant(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """u(x, l, t)."""
        return jnp.sum(self.parts(x, l, t), axis=-1)

    def log_ratio(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """u(x, 0, 1), by a shorter way where the model knows one."""
        n = x.shape[0]
        return self.secant(x, jnp.zeros(n, x.dtype), jnp.ones(n, x.dtype))

    def tangent_parts(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """Summands of s(x, t)."""
        return self.parts(x, t, t)

    def implied_tangent(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The time score that the secant implies by (S1): ∂_t [(t − l) u(x, l, t)].

        Held-out scores look at it, so that a secant that disagrees with its tangent is seen.
        """

        def rise(time: Float[Array, " n"]) -> Float[Array, " n"]:
            return (time - l) * self.secant(x, l, time)

        return jax.jvp(rise, (t,), (jnp.ones_like(t),))[1]

    @property
    def secant_evaluations(self) -> int:
        """Network evaluations one secant costs."""
        return 1


class ModelBuilder(eqx.Module):
    """Settings of a model, built once the number of features is known."""

    @abc.abstractmethod
    def build(self, n_features: int, *, key: PRNGKeyArray) -> SecantFunction:
        """A model with fresh parameters."""
