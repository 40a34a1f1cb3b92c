"""The aligned secant: a free network of (x, l, t), aligned with its tangent by (S1) in training."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.embedding import time_features
from secant.models.networks import ResidualMLP, TimedTrunk, Trunk, TrunkBuilder, at_times
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.models.spectral import interval_mean_basis


class AlignedSecant(ModelBuilder):
    """u(x, l, t) = trunk(x, features of [l, t]).

    A secant is a mean over [l, t]. Its features can be means over [l, t], too: those of Legendre
    polynomials, the first two of which determine l and t. `ModulatedMLP` multiplies by them.

    Attributes:
        trunk: the network.
        n_frequencies: of sinusoids of t and of t − l, the features without an `order`.
        vectorised: one output per coordinate, summed; for the vectorised conditional target.
        order: polynomials whose means over [l, t] are the features; 0 for sinusoids.
    """

    needs_alignment: ClassVar[bool] = True

    trunk: TrunkBuilder = ResidualMLP()
    n_frequencies: int = 2
    vectorised: bool = False
    order: int = 0

    def __check_init__(self) -> None:
        if self.n_frequencies < 0 or not (self.order == 0 or self.order >= 3):
            raise ValueError(
                "AlignedSecant needs n_frequencies >= 0 and an order of 0 or at least 3; "
                f"got {self.n_frequencies}, {self.order}."
            )

    def build(self, n_features: int, *, key: PRNGKeyArray) -> SecantFunction:
        """A model with fresh parameters."""
        n_times = self.order - 1 if self.order else 2 * (2 * self.n_frequencies + 1)
        n_out = n_features if self.vectorised else 1
        trunk = self.trunk.build_timed(n_features, n_times, n_out, key=key)
        return _AlignedFunction(trunk, self.n_frequencies, self.order)


class _AlignedFunction(SecantFunction):
    saved_as: ClassVar[str] = "AlignedFunction"

    trunk: Trunk | TimedTrunk
    n_frequencies: int = eqx.field(static=True)
    order: int = eqx.field(static=True, default=0)

    def parts(
        self, x: Float[Array, "n d"], l: Float[Array, " n"], t: Float[Array, " n"]
    ) -> Float[Array, "n parts"]:
        return jax.vmap(self._row)(x, l, t)

    def _row(
        self, x: Float[Array, " d"], l: Float[Array, ""], t: Float[Array, ""]
    ) -> Float[Array, " parts"]:
        if self.order:  # the mean of the first polynomial is 1
            return at_times(self.trunk, x, interval_mean_basis(l, t, self.order)[1:])
        end = time_features(t, self.n_frequencies)
        length = time_features(t - l, self.n_frequencies)
        return at_times(self.trunk, x, jnp.concatenate([end, length]))

    def time_score(self, x: Float[Array, "n d"], t: Float[Array, " n"]) -> Float[Array, " n"]:
        return self.secant(x, t, t)
