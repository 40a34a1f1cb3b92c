"""flowjax's masked autoregressive flow of rational-quadratic splines."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

__all__ = ["spline_flow"]

Rows = Float[np.ndarray, "n d"]

_BLOCK = 4096


def spline_flow(train: Rows, seed: int) -> Callable[[Rows], Float[np.ndarray, " n"]]:
    """Fit by maximum likelihood with early stopping; return a function of log densities.

    The library's defaults (eight layers, a network of width 50 each, learning rate 5e-4, a tenth of
    the rows held out), with splines of eight knots on [−4, 4] and more patience.
    """
    # From the extra `flowjax`: imported here, because other suites do not need it.
    from flowjax.bijections import RationalQuadraticSpline
    from flowjax.distributions import Normal
    from flowjax.flows import masked_autoregressive_flow
    from flowjax.train import fit_to_data

    key_flow, key_train = jax.random.split(jax.random.key(seed))
    flow = masked_autoregressive_flow(
        key_flow,
        base_dist=Normal(jnp.zeros(train.shape[1])),
        transformer=RationalQuadraticSpline(knots=8, interval=4),
    )
    flow, _ = fit_to_data(
        key_train,
        flow,
        jnp.asarray(train),
        max_epochs=200,
        max_patience=10,
        batch_size=256,
        show_progress=False,
    )
    score = eqx.filter_jit(lambda flow, x: flow.log_prob(x))

    def log_density(x: Rows) -> Float[np.ndarray, " n"]:
        blocks = [jnp.asarray(x[i : i + _BLOCK]) for i in range(0, len(x), _BLOCK)]
        return np.concatenate([np.asarray(score(flow, b), dtype=np.float64) for b in blocks])

    return log_density
