"""The aligned secant: a free network of (x, l, t), held to the tangent by (S1) in training."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.embedding import time_features
from secant.models.networks import ResidualMLP, Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction

__all__ = ["AlignedSecant"]


class AlignedSecant(ModelBuilder):
    """u(x, l, t) = trunk(x, features of t, features of t − l).

    Attributes:
        trunk: the network.
        n_frequencies: of the time features.
        vectorised: one output a coordinate, summed; for the vectorised conditional target.
    """

    needs_alignment: ClassVar[bool] = True

    trunk: TrunkBuilder = ResidualMLP()
    n_frequencies: int = 2
    vectorised: bool = False

    def __check_init__(self) -> None:
        if self.n_frequencies < 0:
            raise ValueError(f"AlignedSecant needs n_frequencies >= 0; got {self.n_frequencies}.")

    def build(self, n_features: int, *, key: PRNGKeyArray) -> SecantFunction:
        """A model with fresh parameters."""
        n_in = n_features + 2 * (2 * self.n_frequencies + 1)
        n_out = n_features if self.vectorised else 1
        return _AlignedFunction(self.trunk.build(n_in, n_out, key=key), self.n_frequencies)


class _AlignedFunction(SecantFunction):
    saved_as: ClassVar[str] = "AlignedFunction"

    trunk: Trunk
    n_frequencies: int = eqx.field(static=True)

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        return jax.vmap(self._row)(x, l, t)

    def _row(
        self, x: Float[Array, " d"], l: Float[Array, ""], t: Float[Array, ""]
    ) -> Float[Array, " parts"]:
        end = time_features(t, self.n_frequencies)
        length = time_features(t - l, self.n_frequencies)
        return self.trunk(jnp.concatenate([x, end, length]))

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        return self.secant(x, t, t)
