"""The bridge loss: how well secants discriminate x_t from x_l, on long and short intervals.

J is evaluated on the path only. This loss evaluates a secant between p_l and p_t at rows of both
ends, so it also covers rows that are rare at one of them: off the path, where samples exist.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from secant.models.secant_function import SecantFunction
from secant.paths import Path
from secant.targets.bregman import Logistic

BRIDGES = (1, 2, 4, 8, 16)  # numbers of equal intervals of [0, 1]


@eqx.filter_jit
def bridge_loss(
    model: SecantFunction,
    path: Path,
    x_0: Float[Array, "n d"],
    x_1: Float[Array, "n d"],
    n_bridges: Int[Array, ""],  # an array: one program for all of them
    *,
    key: PRNGKeyArray,
) -> Float[Array, ""]:
    """(K2) E softplus(h(x_l)) + E softplus(−h(x_t)), h = (t − l) u(·, l, t).

    It is minimised by the true secant. The mean is over `n_bridges` equal intervals, one per row
    in turn; one interval gives the logistic loss of the log ratio. Values are comparable between
    models with the same path and scaling.
    """
    low, high = path.time_range
    number = jnp.arange(x_0.shape[0]) % n_bridges
    l = low + (high - low) * number / n_bridges
    t = low + (high - low) * (number + 1) / n_bridges
    key_pairs, key_l, key_t = jax.random.split(key, 3)
    other = jax.random.permutation(key_pairs, x_1)  # x_l and x_t from separate pairs
    x_l = path.point(x_0, x_1, path.noise(key_l, x_0), l).x_t
    x_t = path.point(x_0[::-1], other, path.noise(key_t, x_0), t).x_t
    on_l, on_t = ((t - l) * model.secant(x, l, t) for x in (x_l, x_t))
    return jnp.mean(Logistic().pair_losses(on_l, on_t))
