"""Flow matching: least squares on ẋ_t, minimised by the mean velocity E[ẋ_t | x_t]."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.models.velocity import VelocityField
from secant.paths import Path
from secant.targets.batch import Batch, Target


class FlowMatching(Target):
    """‖v(x_t, t) − ẋ_t‖², whose mean is smallest at v = v̄ (F1)."""

    def losses(self, model: VelocityField, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        return jnp.sum((model(x_t, batch.t) - velocity) ** 2, axis=-1)
