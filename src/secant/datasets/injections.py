"""Injective maps of the rows of one variable, which preserve mutual information."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array

_HALVINGS = 60  # a bracket of a few units ends below the spacing of float64


def normal_cdf(x: Array) -> Array:
    """Φ(x), entry by entry: a standard normal becomes uniform on (0, 1).

    Args:
        x: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> float(normal_cdf(jnp.array(0.0)))
        0.5
    """
    return norm.cdf(x)


def mixture_quantile_of_normal(
    z: Array, *, weights: Sequence[float], means: Sequence[float]
) -> Array:
    """`F⁻¹(Φ(z))` with `F(w) = Σ_k π_k Φ(w − m_k)`: a standard normal becomes that mixture.

    By bisection between `z + min m` and `z + max m`, which bracket the solution. Above the median
    the upper tails are compared, `1 − F(w) = Φ(−z)`, because Φ(z) rounds to 1 there.

    Args:
        z: Any shape.
        weights: π_k, positive, summing to 1.
        means: m_k, as many.

    Returns:
        The same shape.

    Raises:
        ValueError: If the weights do not sum to 1 or there are not as many means.

    Examples:
        >>> w = mixture_quantile_of_normal(jnp.array(0.0), weights=(0.5, 0.5), means=(-1.0, 3.0))
        >>> round(float(w), 4)  # the median lies midway between the means
        1.0
    """
    if len(weights) != len(means) or abs(sum(weights) - 1) > 1e-9 or min(weights) <= 0:
        raise ValueError(
            "`weights` must be positive, sum to 1 and be as many as `means`; "
            f"got {tuple(weights)} for {len(means)} means."
        )
    z = jnp.asarray(z)
    side = jnp.where(z > 0, -1.0, 1.0).astype(z.dtype)
    target = norm.cdf(side * z)

    def halve(_: int, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = (low + high) / 2
        terms = zip(weights, means, strict=True)
        tail = sum(weight * norm.cdf(side * (middle - mean)) for weight, mean in terms)
        too_low = side * (tail - target) < 0
        return jnp.where(too_low, middle, low), jnp.where(too_low, high, middle)

    low, high = jax.lax.fori_loop(0, _HALVINGS, halve, (z + min(means), z + max(means)))
    return (low + high) / 2


def wiggly_x(x: Array) -> Array:
    """`x + 0.4 sin x + 0.2 sin(1.7x + 1) + 0.03 sin(3.3x − 2.5)`; its slope is at least 0.16.

    Args:
        x: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> round(float(wiggly_x(jnp.array(0.0))), 4)
        0.1503
    """
    wiggles = 0.4 * jnp.sin(x) + 0.2 * jnp.sin(1.7 * x + 1) + 0.03 * jnp.sin(3.3 * x - 2.5)
    return x + wiggles


def wiggly_y(y: Array) -> Array:
    """`y − 0.4 sin 0.4y + 0.17 sin(1.3y + 3.5) + 0.02 sin(4.3y − 2.5)`; slope at least 0.53.

    Args:
        y: Any shape.

    Returns:
        The same shape.

    Examples:
        >>> round(float(wiggly_y(jnp.array(0.0))), 4)
        -0.0716
    """
    wiggles = -0.4 * jnp.sin(0.4 * y) + 0.17 * jnp.sin(1.3 * y + 3.5)
    return y + wiggles + 0.02 * jnp.sin(4.3 * y - 2.5)


def swiss_roll(u: Array) -> Array:
    """`(t cos t, t sin t)/21` with `t = 1.5π (1 + 2u)`: the unit interval rolled up in a plane.

    Args:
        u: (n, 1) with entries in [0, 1].

    Returns:
        (n, 2).

    Examples:
        >>> swiss_roll(jnp.zeros((5, 1))).shape
        (5, 2)
    """
    t = 1.5 * jnp.pi * (1 + 2 * u)
    return jnp.concatenate([t * jnp.cos(t), t * jnp.sin(t)], axis=1) / 21


def spiral(x: Array, *, plane: tuple[int, int], speed: float) -> Array:
    """`exp(v ‖x‖² A) x` with `A = e_j e_iᵀ − e_i e_jᵀ`: the plane (i, j) rotated by v ‖x‖².

    Norms are preserved, so `speed = −v` is the inverse; the Jacobian has determinant 1.

    Args:
        x: (n, d).
        plane: Columns (i, j).
        speed: v, in radians per unit of ‖x‖².

    Returns:
        (n, d).

    Examples:
        >>> import math
        >>> spiral(jnp.array([[1.0, 0.0]]), plane=(0, 1), speed=math.pi / 2).round(5).tolist()
        [[-0.0, 1.0]]
    """
    x, (i, j) = jnp.asarray(x), plane
    angle = speed * jnp.sum(x**2, axis=1)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    turned_i, turned_j = cos * x[:, i] - sin * x[:, j], sin * x[:, i] + cos * x[:, j]
    return x.at[:, i].set(turned_i).at[:, j].set(turned_j)
