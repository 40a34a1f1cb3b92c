"""The velocity form: E[f² − 2 ẋ_t·∇f] is minimised by the time score, on any path (V1, V2)."""

from __future__ import annotations

from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction
from secant.paths import Moments, Path
from secant.targets.batch import Batch, Target, correction

__all__ = ["ImpliedVelocity", "SecantVelocity", "TangentVelocity", "velocity_losses"]


def velocity_losses(
    value: Float[Array, " n"], along_velocity: Float[Array, " n"]
) -> Float[Array, " n"]:
    """(V1) f² − 2 ẋ_t·∇f, row by row, from f and its derivative in the direction ẋ_t."""
    return value**2 - 2.0 * along_velocity


class TangentVelocity(Target):
    """(V1) λ f(x_t, t)² − 2 λ ẋ_t·∇_x f(x_t, t) with λ = 1.

    Because E[ẋ_t·∇f(x_t)] = E[f ∂_t log p_t], the mean is ‖f − s‖² up to a constant: no Gaussian
    end, no closed-form conditional, no division by the noise. Models whose secants follow from
    their tangent (spectral, tangent network) need nothing else.

    What is not trained (an anchor's time score) enters by its value alone: its own derivative
    along ẋ_t is a constant of the loss, and is left out.
    """

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        learned, along = jax.jvp(
            lambda x: model.learned_time_score(x, batch.t), (x_t,), (velocity,)
        )
        return velocity_losses(learned + model.fixed_time_score(x_t, batch.t), along)

    def time_range(self, path: Path) -> tuple[float, float]:
        """Times at which the loss is finite on this path."""
        return path.time_range

    @property
    def held_out(self) -> Target:
        """J, which looks at secants too."""
        return ImpliedVelocity()


class ImpliedVelocity(Target):
    """(V1) of the tangent that the secants imply by (S1): the held-out score of any model.

    With `moments` the loss is weighted by λ(t) = d / (d + Var(t)), Var the mean variance of the
    conditional time score: a model trained on that target knows little where Var explodes (the
    diffusion interpolant at t → 1), and an unweighted score would see nothing else.
    """

    uses_intervals: ClassVar[bool] = True

    moments: Moments | None = None

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        value, along = jax.jvp(
            lambda x: model.implied_tangent(x, batch.l, batch.t), (x_t,), (velocity,)
        )
        losses = velocity_losses(value, along)
        if self.moments is None:
            return losses
        d = x_t.shape[-1]
        return losses * d / (d + path.mean_conditional_variance(batch.t, self.moments, d))

    def time_range(self, path: Path) -> tuple[float, float]:
        """Times at which the loss is finite on this path."""
        return path.time_range if self.moments is None else path.conditional_time_range


class SecantVelocity(Target):
    """(V2) u² + 2 u c − 2 ẋ_t·∇_x u with c = sg((t − l) ∂_t u): (V1) for a free secant network."""

    uses_intervals: ClassVar[bool] = True

    frame: Literal["fixed-x", "trajectory"] = "fixed-x"

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        value, along = jax.jvp(lambda x: model.secant(x, batch.l, batch.t), (x_t,), (velocity,))
        moving = velocity if self.frame == "trajectory" else None
        bend = jnp.sum(correction(model, x_t, batch.l, batch.t, moving), axis=-1)
        return velocity_losses(value, along) + 2.0 * value * bend

    def time_range(self, path: Path) -> tuple[float, float]:
        """Times at which the loss is finite on this path."""
        return path.time_range

    @property
    def held_out(self) -> Target:
        """J, which looks at secants too."""
        return ImpliedVelocity()
