"""Pairs with heavy tails: products of independent Student-t margins."""

import math
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray
from scipy import integrate, stats

from secant.datasets.pair import Pair

_Margin = tuple[float, float, float]
"""Degrees of freedom, shift and scale of one Student-t margin."""


def student_pair(
    n_features: int = 5,
    *,
    df_0: float = 3.0,
    df_1: float = 5.0,
    shift: float = 1.0,
    scale: float = 0.5,
) -> Pair:
    """Products of Student-t margins: `x_0 ~ t(ν_0)`, `x_1 ~ s + σ t(ν_1)` in every coordinate.

    `log r(x) = Σ_i [log t(z_i; ν_1) − log σ − log t(x_i; ν_0)]`, `z = (x − s)/σ`.
    Both divergences are d times a one-dimensional quadrature.

    Args:
        n_features: d.
        df_0: Degrees of freedom of p_0, above 2 so that the variance exists.
        df_1: Degrees of freedom of p_1, above 2.
        shift: Location s of p_1 in every coordinate.
        scale: Scale σ of p_1, positive.

    Returns:
        The pair, with both divergences.

    Raises:
        ValueError: If a parameter is out of range.

    Examples:
        >>> student_pair(2, df_0=4.0, df_1=4.0, shift=0.0, scale=1.0).kl
        0.0
    """
    if n_features < 1:
        raise ValueError(f"`n_features` must be at least 1; got {n_features}.")
    if not (df_0 > 2 and df_1 > 2):
        raise ValueError(f"`df_0` and `df_1` must be above 2; got {df_0} and {df_1}.")
    if not scale > 0:
        raise ValueError(f"`scale` must be positive; got {scale}.")
    margin_0, margin_1 = (df_0, 0.0, 1.0), (df_1, shift, scale)
    return Pair(
        name=f"student-{n_features}d",
        n_features=n_features,
        draw_0=partial(_draw, n_features, margin_0),
        draw_1=partial(_draw, n_features, margin_1),
        log_ratio=partial(_log_ratio, margin_0, margin_1),
        kl=n_features * _margin_kl(margin_1, margin_0),
        reverse_kl=n_features * _margin_kl(margin_0, margin_1),
    )


def student_log_density(squared_radius: Array, df: float, n_features: int) -> Array:
    """Log density of the standard d-dimensional Student t at `‖x‖² = squared_radius`.

    `log Γ((ν+d)/2) − log Γ(ν/2) − (d/2) log νπ − ((ν+d)/2) log(1 + ‖x‖²/ν)`.

    Args:
        squared_radius: ‖x‖², of any shape.
        df: Degrees of freedom ν, positive.
        n_features: d.

    Returns:
        An array of the shape of `squared_radius`.

    Examples:
        >>> import math
        >>> import jax.numpy as jnp
        >>> bool(jnp.isclose(student_log_density(jnp.array(0.0), 1.0, 1), -math.log(math.pi)))
        True
    """
    half = (df + n_features) / 2
    constant = math.lgamma(half) - math.lgamma(df / 2) - n_features / 2 * math.log(df * math.pi)
    return constant - half * jnp.log1p(squared_radius / df)


def student_draw(key: PRNGKeyArray, df: float, shape: tuple[int, ...]) -> Array:
    """Independent entries of the standard Student t, by Bailey's polar method.

    `√(ν (e^{2E/ν} − 1)) cos 2πV`, `E ~ Exp(1)`, `V ~ U(0, 1)`: exact for every ν. `jax.random.t`
    uses a gamma sampler that takes seconds to compile.

    Args:
        key: JAX random key.
        df: Degrees of freedom ν, positive.
        shape: Shape of the result.

    Returns:
        An array of shape `shape`.

    References:
        Bailey (1994), Polar generation of random variates with the t-distribution.

    Examples:
        >>> student_draw(jax.random.key(0), 3.0, (4, 2)).shape
        (4, 2)
    """
    key_radius, key_angle = jax.random.split(key)
    squared_radius = df * jnp.expm1(2 / df * jax.random.exponential(key_radius, shape))
    return jnp.sqrt(squared_radius) * jnp.cos(2 * jnp.pi * jax.random.uniform(key_angle, shape))


def _log_ratio(margin_0: _Margin, margin_1: _Margin, x: Array) -> Array:
    """(n, d) → (n,)."""
    x = jnp.asarray(x)
    return jnp.sum(_log_margin(margin_1, x) - _log_margin(margin_0, x), axis=-1)


def _log_margin(margin: _Margin, x: Array) -> Array:
    """Log density of `shift + scale · t(df)`, entry by entry."""
    df, shift, scale = margin
    return student_log_density(((x - shift) / scale) ** 2, df, 1) - math.log(scale)


def _draw(n_features: int, margin: _Margin, key: PRNGKeyArray, n: int) -> Array:
    """(n, d) independent entries `shift + scale · t(df)`."""
    df, shift, scale = margin
    return shift + scale * student_draw(key, df, (n, n_features))


def _margin_kl(p: _Margin, q: _Margin) -> float:
    """`∫ t(z; ν) [log p − log q](s + σz) dz` over the standardised variable of p."""
    df, shift, scale = p

    def integrand(z: float) -> float:
        x = shift + scale * z
        log_ratio = stats.t.logpdf(x, *p) - stats.t.logpdf(x, *q)
        return float(stats.t.pdf(z, df) * log_ratio)

    return float(integrate.quad(integrand, -math.inf, math.inf, limit=200)[0])
