"""Ridge functions: a sum of functions of one projection each, as in projection pursuit."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from secant.models.networks import LinearLayer, Trunk, TrunkBuilder
from secant.models.secant_function import on_device

_STEEPNESS, _FARTHEST_KNOT = 2.0, 3.0  # of the first hinges, in standard deviations of a column


class RidgeFunctions(TrunkBuilder):
    """f(x) = Σ_k g_k(a_k·x): unit vectors a_k and functions g_k of one number (P1).

    As a log ratio it is a product of ratios along a few directions, for any number of columns.
    Each g_k is a sum of smooth hinges, silu(w s − b), with initially evenly spaced knots.

    Attributes:
        n_terms: directions.
        width: hinges of each g_k.

    References:
        [@wang2025projection]
    """

    n_terms: int = 8
    width: int = 16

    def __check_init__(self) -> None:
        if self.n_terms < 1 or self.width < 1:
            raise ValueError(
                f"RidgeFunctions needs n_terms >= 1 and width >= 1; got {self.n_terms}, "
                f"{self.width}."
            )

    def build(self, n_in: int, n_out: int, *, key: PRNGKeyArray) -> Trunk:
        """A trunk with fresh parameters: random directions, every g_k zero."""
        knots = _STEEPNESS * np.linspace(-_FARTHEST_KNOT, _FARTHEST_KNOT, self.width)
        shape = (self.n_terms, self.width)
        return _RidgeNetwork(
            directions=LinearLayer.random(n_in, self.n_terms, key=key).weight,
            steepness=on_device(np.full(shape, _STEEPNESS)),
            knots=on_device(np.broadcast_to(knots, shape)),
            head=LinearLayer.zeros(self.n_terms * self.width, n_out),
        )


class _RidgeNetwork(eqx.Module):
    saved_as: ClassVar[str] = "RidgeNetwork"

    directions: Float[Array, "n_in n_terms"]
    steepness: Float[Array, "n_terms width"]
    knots: Float[Array, "n_terms width"]
    head: LinearLayer

    def __call__(self, x: Float[Array, " n_in"]) -> Float[Array, " n_out"]:
        projected = x @ (self.directions / jnp.linalg.norm(self.directions, axis=0))
        hinges = jax.nn.silu(self.steepness * projected[:, None] - self.knots)
        return self.head(hinges.ravel())
