"""Models of the time score s(x, t), alone or with ∇_x log p_t; secants by Gauss nodes (E1)."""

from __future__ import annotations

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.embedding import time_features
from secant.models.networks import ResidualMLP, TimedTrunk, Trunk, TrunkBuilder, at_times
from secant.models.secant_function import ModelBuilder, SecantFunction


class TangentFunction(SecantFunction):
    """A model of the time score; its secant is the mean over [l, t], so (S1) holds."""

    n_nodes: eqx.AbstractVar[int]

    @abc.abstractmethod
    def tangent_parts(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """Summands of s(x, t)."""

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        """(E1) the mean of the tangent's summands over [l, t], by Gauss–Legendre nodes."""
        nodes, weights = np.polynomial.legendre.leggauss(self.n_nodes)
        shares = (0.5 * (nodes + 1.0)).astype(t.dtype)
        at_nodes = [self.tangent_parts(x, l + (t - l) * share) for share in shares]
        return jnp.tensordot(0.5 * weights.astype(t.dtype), jnp.stack(at_nodes), axes=1)

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        """s(x, t)."""
        return jnp.sum(self.tangent_parts(x, t), axis=-1)

    def implied_tangent(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """The time score itself: (S1) holds by construction."""
        del l
        return self.time_score(x, t)

    @property
    def secant_evaluations(self) -> int:
        """Network evaluations per secant."""
        return self.n_nodes


class TangentNetwork(ModelBuilder):
    """s(x, t) = trunk(x, features of t).

    Attributes:
        trunk: the network.
        n_frequencies: of the time features.
        n_nodes: Gauss–Legendre nodes of one secant, so network evaluations of one log ratio.
        vectorised: one output per coordinate, summed; for the vectorised conditional target.
    """

    trunk: TrunkBuilder = ResidualMLP()
    n_frequencies: int = 2
    n_nodes: int = 16
    vectorised: bool = False

    def __check_init__(self) -> None:
        if self.n_frequencies < 0 or self.n_nodes < 1:
            raise ValueError(
                "TangentNetwork needs n_frequencies >= 0 and n_nodes >= 1; "
                f"got {self.n_frequencies}, {self.n_nodes}."
            )

    def build(self, n_features: int, *, key: PRNGKeyArray) -> TangentFunction:
        """A model with fresh parameters."""
        n_out = n_features if self.vectorised else 1
        trunk = self.trunk.build_timed(n_features, 2 * self.n_frequencies + 1, n_out, key=key)
        return _TangentFunction(trunk=trunk, n_frequencies=self.n_frequencies, n_nodes=self.n_nodes)


class _TangentFunction(TangentFunction):
    saved_as: ClassVar[str] = "TangentFunction"

    trunk: Trunk | TimedTrunk
    n_frequencies: int = eqx.field(static=True)
    n_nodes: int = eqx.field(static=True)

    def _row(self, x: Float[Array, " d"], t: Float[Array, ""]) -> Float[Array, " parts"]:
        return at_times(self.trunk, x, time_features(t, self.n_frequencies))

    def tangent_parts(
        self, x: Float[Array, "n d"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        return jax.vmap(self._row)(x, t)


class JointScore(SecantFunction):
    """A tangent model that also gives the data score ∇_x log p_t(x)."""

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
