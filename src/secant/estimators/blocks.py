"""Rows in blocks of a few sizes, so that odd numbers of rows compile nothing anew."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

__all__ = ["ROWS_AT_ONCE", "padded_blocks"]

ROWS_AT_ONCE = 8192


def padded_blocks(x: Float[np.ndarray, "n d"]) -> list[Float[Array, "m d"]]:
    """Blocks of fixed sizes (powers of two up to a maximum), the last one padded with zeros."""
    blocks = []
    for start in range(0, max(x.shape[0], 1), ROWS_AT_ONCE):
        block = x[start : start + ROWS_AT_ONCE]
        size = max(256, 1 << (max(block.shape[0], 1) - 1).bit_length())
        padded = np.zeros((size, x.shape[1]), dtype=np.float32)
        padded[: block.shape[0]] = block
        blocks.append(jnp.asarray(padded))
    return blocks
