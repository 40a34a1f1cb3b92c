"""Smooth time features, because the correction term of (S1) differentiates them in t."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float


def time_features(t: Float[Array, ""], n_frequencies: int) -> Float[Array, " m"]:
    """(2t − 1, cos πkt, sin πkt for k = 1…n_frequencies), m = 2 n_frequencies + 1.

    The sinusoids of 1000·t that are usual in diffusion models would make ∂_t u very large.
    """
    angles = jnp.pi * jnp.arange(1, n_frequencies + 1) * t
    return jnp.concatenate([2.0 * t[None] - 1.0, jnp.cos(angles), jnp.sin(angles)])
