"""Pairs under invertible coordinatewise maps, which do not change ratio and divergences."""

from dataclasses import replace
from functools import partial

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from secant.datasets.pair import Draw, LogRatio, Map, Pair


def through(pair: Pair, forward: Map, inverse: Map, name: str) -> Pair:
    """The pair of y = f(x): the Jacobians of f cancel, so `log r_y(y) = log r(f⁻¹(y))`.

    Args:
        pair: The pair of x.
        forward: f, applied to every coordinate; shapes are kept. An invertible map that mixes
            coordinates leaves the ratio unchanged too, but not a product of margins.
        inverse: f⁻¹.
        name: Name of the new pair.

    Returns:
        The pair of y, with the divergences of `pair`.

    Examples:
        >>> from secant.datasets import block_gaussians
        >>> pair = through(block_gaussians(4), half_cube, inverse_half_cube, "half-cube-4d")
        >>> round(pair.kl, 6)
        1.0
    """
    return replace(
        pair,
        name=name,
        draw_0=partial(_draw, pair.draw_0, forward),
        draw_1=partial(_draw, pair.draw_1, forward),
        log_ratio=partial(_log_ratio, pair.log_ratio, inverse),
    )


def half_cube(x: Array) -> Array:
    """`x √|x|`: stretches the tails, and has slope 0 at 0.

    Args:
        x: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> float(half_cube(jnp.array(-4.0)))
        -8.0
    """
    return x * jnp.sqrt(jnp.abs(x))


def inverse_half_cube(y: Array) -> Array:
    """`sign(y) |y|^(2/3)`, the inverse of `half_cube`.

    Args:
        y: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> round(float(inverse_half_cube(jnp.array(-8.0))), 5)
        -4.0
    """
    return jnp.sign(y) * jnp.cbrt(jnp.abs(y)) ** 2


def asinh(x: Array) -> Array:
    """`log(x + √(x² + 1))`: turns power-law tails into exponential ones.

    Args:
        x: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> round(float(asinh(jnp.array(1.0))), 4)
        0.8814
    """
    return jnp.arcsinh(x)


def inverse_asinh(y: Array) -> Array:
    """`sinh y`, the inverse of `asinh`.

    Args:
        y: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> round(float(inverse_asinh(asinh(jnp.array(3.0)))), 5)
        3.0
    """
    return jnp.sinh(y)


# Module-level functions bound with `partial`, unlike closures, can be pickled.


def _draw(draw: Draw, forward: Map, key: PRNGKeyArray, n: int) -> Array:
    """Rows of x, mapped."""
    return forward(draw(key, n))


def _log_ratio(log_ratio: LogRatio, inverse: Map, y: Array) -> Array:
    """Log ratio at the preimage of y."""
    return log_ratio(inverse(jnp.asarray(y)))
