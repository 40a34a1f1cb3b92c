"""Mutual information as a pair: p_1 is the joint distribution, p_0 the product of its margins.

`KL(p_1 ‖ p_0) = MI(x; y)`, and the log ratio is the pointwise mutual information.
"""

import math
from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from scipy import special

from secant.datasets.gaussians import gaussian_pair
from secant.datasets.heavy_tails import student_draw, student_log_density
from secant.datasets.pair import Pair
from secant.datasets.transforms import asinh, inverse_asinh, through


def additive_noise(epsilon: float = 0.1) -> Pair:
    """Columns (x, y) with y = x + n, x ~ U(0, 1), n ~ U(−ε, ε).

    With `m(y) = min(1, y+ε) − max(0, y−ε)`, so that `p(y) = m(y)/2ε`: `log r = −log m(y)` where
    |y − x| ≤ ε. `MI = ε − log 2ε` for ε ≤ ½, else `1/(4ε)`.

    The supports differ: log r is **−∞** where p_1 = 0 < p_0 (so the reverse KL is ∞), and NaN
    where both densities are 0. The bounds hold up to rounding, so that no row of p_1 has −∞.

    Args:
        epsilon: Half width ε of the noise, positive.

    Returns:
        The pair.

    Raises:
        ValueError: If `epsilon` is not positive.

    Examples:
        >>> round(additive_noise(0.1).kl, 4)
        1.7094
    """
    if not epsilon > 0:
        raise ValueError(f"`epsilon` must be positive; got {epsilon}.")
    mi = epsilon - math.log(2 * epsilon) if epsilon <= 0.5 else 1 / (4 * epsilon)
    return Pair(
        name=f"additive-noise-{epsilon:g}",
        n_features=2,
        draw_0=partial(_additive_margins, epsilon),
        draw_1=partial(_additive_joint, epsilon),
        log_ratio=partial(_additive_log_ratio, epsilon),
        kl=mi,
        reverse_kl=math.inf,
    )


def edge_singular_gauss(rho: float = 0.9999) -> Pair:
    """A nearly singular bivariate Gaussian against its margins: `MI = −½ log(1 − ρ²)`, ρ → 1.

    p_1 is concentrated near the diagonal, on a ridge of width √(1 − ρ) within N(0, I).

    Args:
        rho: Correlation, |ρ| < 1.

    Returns:
        The pair of columns (x, y).

    Raises:
        ValueError: If |ρ| ≥ 1.

    Examples:
        >>> round(edge_singular_gauss(0.9999).kl, 3)
        4.259
    """
    if not abs(rho) < 1:
        raise ValueError(f"`rho` must lie in (-1, 1); got {rho}.")
    zero, identity = np.zeros(2), np.eye(2)
    cov = [[1.0, rho], [rho, 1.0]]
    return gaussian_pair(zero, identity, zero, cov, name=f"edge-singular-gauss-{rho:g}")


def joint_student(dim_x: int = 1, dim_y: int = 1, df: float = 1.0) -> Pair:
    """A joint Student t in m + n dimensions with identity dispersion, against its margins.

    x and y are uncorrelated yet dependent: they share the scale √(ν/χ²).
    `MI = f(ν) + f(ν+m+n) − f(ν+m) − f(ν+n)` with `f(v) = log Γ(v/2) − (v/2) ψ(v/2)`.

    Args:
        dim_x: m, the first columns.
        dim_y: n, the last columns.
        df: Degrees of freedom ν, positive; 1 is Cauchy.

    Returns:
        The pair of columns (x, y).

    Raises:
        ValueError: If a parameter is out of range.

    Examples:
        >>> round(joint_student(2, 2, df=1.0).kl, 4)
        0.4319
    """
    if dim_x < 1 or dim_y < 1 or not df > 0:
        raise ValueError(
            "`dim_x` and `dim_y` must be at least 1 and `df` positive; "
            f"got {dim_x}, {dim_y} and {df}."
        )
    return Pair(
        name=f"joint-student-{dim_x}x{dim_y}-df{df:g}",
        n_features=dim_x + dim_y,
        draw_0=partial(_student_margins, dim_x, dim_y, df),
        draw_1=partial(_student_joint, dim_x + dim_y, df),
        log_ratio=partial(_student_log_ratio, dim_x, dim_y, df),
        kl=_student_mi(dim_x, dim_y, df),
    )


def asinh_student(dim_x: int = 1, dim_y: int = 1, df: float = 1.0) -> Pair:
    """`joint_student` under `asinh`, which shortens its tails and preserves mutual information.

    Args:
        dim_x: m, the first columns.
        dim_y: n, the last columns.
        df: Degrees of freedom ν, positive; 1 is Cauchy.

    Returns:
        The pair of columns (asinh x, asinh y).

    Raises:
        ValueError: If a parameter is out of range.

    Examples:
        >>> round(asinh_student(1, 1, df=1.0).kl, 4)
        0.2242
    """
    student, name = joint_student(dim_x, dim_y, df), f"asinh-student-{dim_x}x{dim_y}-df{df:g}"
    return through(student, asinh, inverse_asinh, name)


def shuffled(x_1: Array, y_columns: Sequence[int], key: PRNGKeyArray) -> Array:
    """Rows of p_0 = p(x) p(y) from rows of the joint p_1, by permuting the y columns across rows.

    The y columns of a row move together, so dependence within x and within y is kept. Each row
    is distributed as p_0, except that with probability 1/n it is unchanged. The rows reuse those of
    `x_1`, so standard errors that assume two independent samples do not apply.

    Args:
        x_1: (n, d) rows of the joint.
        y_columns: Indices of the columns that form y. For `block_gaussians`, the odd ones.
        key: JAX random key.

    Returns:
        (n, d) rows of p_0.

    Examples:
        >>> rows = jnp.array([[0, 0], [1, 1], [2, 2]])
        >>> shuffled(rows, [1], jax.random.key(0))[:, 0].tolist()
        [0, 1, 2]
    """
    x_1, columns = jnp.asarray(x_1), np.asarray(y_columns, dtype=np.int64)
    order = jax.random.permutation(key, x_1.shape[0])
    return x_1.at[:, columns].set(x_1[order][:, columns])


def _additive_joint(epsilon: float, key: PRNGKeyArray, n: int) -> Array:
    """(n, 2) rows (x, x + noise)."""
    key_x, key_noise = jax.random.split(key)
    x = jax.random.uniform(key_x, (n,))
    noise = jax.random.uniform(key_noise, (n,), minval=-epsilon, maxval=epsilon)
    return jnp.stack([x, x + noise], axis=1)


def _additive_margins(epsilon: float, key: PRNGKeyArray, n: int) -> Array:
    """(n, 2) rows (x, y) with x and y of two independent rows of the joint."""
    key_x, key_y = jax.random.split(key)
    x, y = jax.random.uniform(key_x, (n,)), _additive_joint(epsilon, key_y, n)[:, 1]
    return jnp.stack([x, y], axis=1)


def _additive_log_ratio(epsilon: float, rows: Array) -> Array:
    """(n, 2) → (n,): −log m(y) on the support of p_1, −∞ on the rest of that of p_0."""
    rows = jnp.asarray(rows)
    x, y = rows[:, 0], rows[:, 1]
    rounding = 4 * float(np.finfo(rows.dtype).eps) * (1 + epsilon)
    overlap = jnp.minimum(1, y + epsilon) - jnp.maximum(0, y - epsilon)
    in_x = (x >= 0) & (x <= 1)
    in_joint = in_x & (jnp.abs(y - x) <= epsilon + rounding)
    in_margins = in_x & (overlap >= -rounding)
    outside = jnp.where(in_margins, -jnp.inf, jnp.nan)
    return jnp.where(in_joint, -jnp.log(jnp.maximum(overlap, rounding)), outside)


def _student_joint(n_features: int, df: float, key: PRNGKeyArray, n: int) -> Array:
    """(n, d) rows, column by column: `x_k | x_{<k} = √((ν + ‖x_{<k}‖²)/(ν + k)) t(ν + k)`."""
    columns, squared_radius = [], jnp.zeros(n)
    for k, column_key in enumerate(jax.random.split(key, n_features)):
        scale = jnp.sqrt((df + squared_radius) / (df + k))
        columns.append(scale * student_draw(column_key, df + k, (n,)))
        squared_radius += columns[-1] ** 2
    return jnp.stack(columns, axis=1)


def _student_margins(dim_x: int, dim_y: int, df: float, key: PRNGKeyArray, n: int) -> Array:
    """(n, m + n) rows of independent x and y; a margin of a Student t is a Student t."""
    key_x, key_y = jax.random.split(key)
    x, y = _student_joint(dim_x, df, key_x, n), _student_joint(dim_y, df, key_y, n)
    return jnp.concatenate([x, y], axis=1)


def _student_log_ratio(dim_x: int, dim_y: int, df: float, rows: Array) -> Array:
    """(n, m + n) → (n,): log p(x, y) − log p(x) − log p(y)."""
    squared_x = jnp.sum(rows[:, :dim_x] ** 2, axis=1)
    squared_y = jnp.sum(rows[:, dim_x:] ** 2, axis=1)
    log_joint = student_log_density(squared_x + squared_y, df, dim_x + dim_y)
    log_x = student_log_density(squared_x, df, dim_x)
    return log_joint - log_x - student_log_density(squared_y, df, dim_y)


def _student_mi(dim_x: int, dim_y: int, df: float) -> float:
    """f(ν) + f(ν+m+n) − f(ν+m) − f(ν+n)."""

    def f(v: float) -> float:
        return float(special.gammaln(v / 2) - v / 2 * special.digamma(v / 2))

    return f(df) + f(df + dim_x + dim_y) - f(df + dim_x) - f(df + dim_y)
