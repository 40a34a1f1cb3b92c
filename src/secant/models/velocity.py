"""The mean velocity v̄(x, t) = E[ẋ_t | x_t = x], and its divergence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.anchor import Anchor
from secant.models.embedding import time_features
from secant.models.networks import ResidualMLP, Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder


class MeanVelocity(ModelBuilder):
    """v̄(x, t) = trunk(x, features of t), plus the velocity of the anchor if there is one.

    Attributes:
        trunk: the network.
        n_frequencies: of the time features.
    """

    trunk: TrunkBuilder = ResidualMLP()
    n_frequencies: int = 2

    def build(self, n_features: int, *, key: PRNGKeyArray) -> VelocityField:
        """A field with fresh parameters; the head is zero, so it starts at 0."""
        n_in = n_features + 2 * self.n_frequencies + 1
        trunk = self.trunk.build(n_in, n_features, key=key)
        return VelocityField(trunk, None, self.n_frequencies)

    def anchored(self, model: Any, anchor: Anchor) -> VelocityField:  # noqa: ANN401
        """The field plus the velocity of an anchor."""
        return replace(model, anchor=anchor)


class VelocityField(eqx.Module):
    """A vector field v̄(x, t), row by row."""

    trunk: Trunk
    anchor: Anchor | None
    n_frequencies: int = eqx.field(static=True)

    def __call__(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d"]:
        """v̄ at each row."""
        rest = jax.vmap(self._row)(x, t)
        return rest if self.anchor is None else rest + self.anchor.mean_velocity(x, t)

    def _row(self, x: Float[Array, " d"], t: Float[Array, ""]) -> Float[Array, " d"]:
        return self.trunk(jnp.concatenate([x, time_features(t, self.n_frequencies)]))

    def divergence(
        self, x: Float[Array, "n d"], t: Float[Array, " n"], probe: Float[Array, "n d"]
    ) -> Float[Array, " n"]:
        """Hutchinson's estimate of ∇·v̄: probe · (∂v̄/∂x) probe, for probes with E[p pᵀ] = I."""
        _, along = jax.jvp(lambda rows: self(rows, t), (x,), (probe,))
        return jnp.sum(probe * along, axis=-1)
