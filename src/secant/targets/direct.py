"""Direct losses (D0): the log ratio learned from the two samples alone, with no path."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction
from secant.paths import Path
from secant.targets.batch import Batch, Target

__all__ = ["Logistic"]


class Logistic(Target):
    """Noise-contrastive estimation (D0): softplus(−g(x_1)) + softplus(g(x_0)), g = log r.

    Batches hold equally many rows of both samples whatever their counts, so no prior shift.
    """

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each pair."""
        del path
        zeros, ones = jnp.zeros_like(batch.t), jnp.ones_like(batch.t)
        on_0 = model.secant(batch.x_0, zeros, ones)
        on_1 = model.secant(batch.x_1, zeros, ones)
        return jax.nn.softplus(on_0) + jax.nn.softplus(-on_1)

    def time_range(self, path: Path) -> tuple[float, float]:
        """The whole of [0, 1]: time plays no part."""
        del path
        return 0.0, 1.0
