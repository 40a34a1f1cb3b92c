"""The joint score network: ∂_t log p_t and ∇_x log p_t from one trunk, as DRE-∞ learns them."""

from __future__ import annotations

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.embedding import time_features
from secant.models.networks import ResidualMLP, Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.models.tangent import TangentFunction

__all__ = ["JointScore", "JointScoreNetwork"]


class JointScore(SecantFunction):
    """A tangent model that also answers for the data score ∇_x log p_t(x)."""

    @abc.abstractmethod
    def data_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d"]:
        """∇_x log p_t(x)."""


class JointScoreNetwork(ModelBuilder):
    """(s(x, t), ∇_x log p_t(x)) = trunk(x, features of t), 1 + d outputs.

    Attributes:
        trunk: the network.
        n_frequencies: of the time features.
        n_nodes: Gauss–Legendre nodes of one secant.
    """

    trunk: TrunkBuilder = ResidualMLP()
    n_frequencies: int = 2
    n_nodes: int = 16

    def build(self, n_features: int, *, key: PRNGKeyArray) -> JointScore:
        """A model with fresh parameters."""
        n_in = n_features + 2 * self.n_frequencies + 1
        trunk = self.trunk.build(n_in, 1 + n_features, key=key)
        return _JointFunction(trunk=trunk, n_frequencies=self.n_frequencies, n_nodes=self.n_nodes)


class _JointFunction(TangentFunction, JointScore):
    saved_as: ClassVar[str] = "JointFunction"

    trunk: Trunk
    n_frequencies: int = eqx.field(static=True)
    n_nodes: int = eqx.field(static=True)

    def _both(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d_plus_1"]:
        features = jax.vmap(lambda time: time_features(time, self.n_frequencies))(t)
        return jax.vmap(self.trunk)(jnp.concatenate([x, features], axis=-1))

    def tangent_parts(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n 1"]:
        return self._both(x, t)[:, :1]

    def data_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, "n d"]:
        return self._both(x, t)[:, 1:]
