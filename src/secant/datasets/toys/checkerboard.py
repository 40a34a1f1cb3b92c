"""The uniform distribution on eight squares: `checkerboard`."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from secant.datasets.toys.toy import Toy

__all__ = ["checkerboard"]


def checkerboard() -> Toy:
    """Uniform on the unit squares of [−2, 2]² whose lower left corners have an even sum: H = log 8.

    log p is −log 8 there and **−∞** elsewhere. The literature also draws it at twice the size.
    """
    return Toy("checkerboard", _draw, _log_density, exact_entropy=math.log(8))


def _draw(key: PRNGKeyArray, n: int) -> Array:
    """(n, 2) rows: a column, one of its two squares, and a place in the square."""
    column_key, square_key, place_key = jax.random.split(key, 3)
    column = jax.random.randint(column_key, (n,), -2, 2)
    row = 2 * jax.random.randint(square_key, (n,), -1, 1) + column % 2
    corner = jnp.stack([column, row], axis=1)
    return corner + jax.random.uniform(place_key, (n, 2))


def _log_density(x: Array) -> Array:
    """(n, 2) → (n,)."""
    x = jnp.asarray(x)
    on_board = jnp.all((x >= -2) & (x < 2), axis=1)
    is_even = jnp.sum(jnp.floor(x), axis=1) % 2 == 0
    return jnp.where(on_board & is_even, -math.log(8), -jnp.inf).astype(x.dtype)
