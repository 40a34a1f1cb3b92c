"""Distillation (E1): a one-pass model regressed on the tangents of a frozen teacher."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.targets.velocity import ImpliedVelocity


class Distillation(Target):
    """|s_θ(x, t) − s_teacher(x, t)|² at rows of x_0, x_1 and x_t in turn (E1).

    The teacher can be evaluated anywhere, so the student also learns at rows of x_0 and x_1 for
    every t. These are off the path, and the log ratio is evaluated there.
    """

    teacher: SecantFunction

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t = path.point(batch.x_0, batch.x_1, batch.z, batch.t).x_t
        turn = jnp.arange(x_t.shape[0])[:, None] % 3
        x = jnp.where(turn == 0, batch.x_0, jnp.where(turn == 1, batch.x_1, x_t))
        teaching = jax.lax.stop_gradient(self.teacher.time_score(x, batch.t))
        return (model.time_score(x, batch.t) - teaching) ** 2

    @property
    def held_out(self) -> Target:
        """J of the student itself."""
        return ImpliedVelocity()
