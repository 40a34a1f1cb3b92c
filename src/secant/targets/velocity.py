"""The velocity form: E[f² − 2 ẋ_t·∇f] is minimised by the time score, on any path (V1–V4)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
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

    Because E[ẋ_t·∇f(x_t)] = E[f ∂_t log p_t], the mean is ‖f − s‖² up to a constant. It needs no
    Gaussian end, no closed-form conditional and no division by the noise. Models whose secants
    follow from their tangent (spectral, tangent network) need no other loss.

    A part that is not trained (an anchor's time score) enters by its value only: its derivative
    along ẋ_t is a constant of the loss, and is left out.
    """

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        learned, along = jax.jvp(
            lambda x: model.learned_time_score(x, batch.t), (x_t,), (velocity,)
        )
        return velocity_losses(learned + model.fixed_time_score(x_t, batch.t), along)

    @property
    def held_out(self) -> Target:
        """J, which also evaluates secants."""
        return ImpliedVelocity()


class ImpliedVelocity(Target):
    """(V1) of the tangent that the secants imply by (S1): the held-out score of any model.

    With `moments` the loss is weighted by λ(t) = d / (d + Var(t)), Var the mean variance of the
    conditional time score. A model trained on the conditional score is inaccurate where Var is
    large (the diffusion interpolant at t → 1), which would dominate an unweighted score.
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
    """(V1) for a free secant network, by the tangent it implies: f = ∂_t [(t − l) u(x, l, t)].

    With its full gradient (V3) the secant is the only minimiser for every l, and there is no
    bootstrapping. With the stop-gradient of the paper (V2), u² + 2 u c − 2 ẋ_t·∇_x u with
    c = sg((t − l) ∂_t u), training is a fixed-point iteration, which needs a curriculum.

    Both evaluate x_t only. With `consistency` > 0 the secants of long intervals must also agree
    with those of short ones (K1) at rows of x_0 and x_1, where the log ratio is evaluated. With
    `spatial` > 0, for x_0 ~ N(0, I), the secants from 0 are also trained by their gradient in x
    (V4), which has one target per coordinate, whereas (V3) has one per row.

    Attributes:
        frame: `fixed-x`, or `trajectory` for the paper's total derivative (erratum 1).
        stop_gradient: whether the correction term has no gradient.
        consistency: weight of the squared gap of (K1), in nats².
        spatial: weight of (V4); needs x_0 ~ N(0, I).
    """

    uses_intervals: ClassVar[bool] = True

    frame: Literal["fixed-x", "trajectory"] = "fixed-x"
    stop_gradient: bool = True
    consistency: float = 0.0
    spatial: float = 0.0

    def __check_init__(self) -> None:
        for name in ("consistency", "spatial"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"SecantVelocity needs {name} >= 0; got {getattr(self, name)}.")
        if self.frame == "trajectory" and not self.stop_gradient:
            raise ValueError("The full gradient needs frame='fixed-x'; got 'trajectory'.")

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        losses = self._along_path(model, path, batch)
        if self.consistency:
            losses += self.consistency * _splitting_gaps(model, path, batch) ** 2
        if self.spatial:
            losses += self.spatial * _spatial_losses(model, path, batch)
        return losses

    def _along_path(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        if not self.stop_gradient:
            return ImpliedVelocity().losses(model, path, batch)
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        value, along = jax.jvp(lambda x: model.secant(x, batch.l, batch.t), (x_t,), (velocity,))
        moving = velocity if self.frame == "trajectory" else None
        bend = jnp.sum(correction(model, x_t, batch.l, batch.t, moving), axis=-1)
        return velocity_losses(value, along) + 2.0 * value * bend

    @property
    def bootstraps(self) -> bool:
        """Whether it regresses on the model's own output."""
        return self.stop_gradient

    def needs_standard_normal(self, path: Path) -> bool:
        """Whether the loss is valid only for x_0 ~ N(0, I), as (V4) is on any path."""
        del path
        return self.spatial > 0.0

    @property
    def held_out(self) -> Target:
        """J, plus (K1) and (V4) if they are trained, because J alone evaluates on the path only."""
        return replace(self, frame="fixed-x", stop_gradient=False)


_PIECES = 4
_EVERY = 8  # row: (K1) has no noise, so few rows are enough
_EVERY_SPATIAL = 2  # row: (V4) costs as much as (V3), and each row has d targets
_LEAST = 0.015  # 1/w of (V4), which is 0 at both ends of the path


def _splitting_gaps(model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
    """How far (t − l) u(x, l, t) is from the sum over four pieces of [l, t] (K1).

    Evaluated at every eighth row, of x_0 and x_1 alternately. A quarter of the intervals is the
    whole path, and half of the others start or end with it.
    """
    low, high = path.time_range
    n = batch.t.shape[0]
    some = slice(None, None, _EVERY)
    number = jnp.arange(-(-n // _EVERY))
    x = jnp.where((number % 2 == 0)[:, None], batch.x_0[some], batch.x_1[some])
    l = jnp.where(number % 4 < 2, low, batch.l[some])
    t = jnp.where(number % 8 < 4, high, batch.t[some])
    ends = [l + (t - l) * share for share in np.linspace(0.0, 1.0, _PIECES + 1)]
    whole = (t - l) * model.secant(x, l, t)
    pieces = [(right - left) * model.secant(x, left, right) for left, right in pairwise(ends)]
    return jnp.repeat(whole - sum(pieces), _EVERY)[:n]


def _spatial_losses(model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
    """(V4) w ‖σ_t (g + ∇log p_0(x_t)) + ε‖², g = ∇_x [t u(x_t, 0, t)], minus its value at g = 0.

    At every second row, repeated.
    """
    x_0, x_1, z, _, t = (a[::_EVERY_SPATIAL] for a in batch)
    x_t, _ = path.point(x_0, x_1, z, t)
    given = path.conditional(x_0, x_1, z, t)
    scale = given.scale[:, None]
    start = 1.0 + path.noise_scale(jnp.zeros(())) ** 2  # the variance of p_0 on the path
    unexplained = given.noise - scale * x_t / start
    learned = scale * jax.grad(lambda x: jnp.sum(t * model.secant(x, jnp.zeros_like(t), t)))(x_t)
    (alpha, beta), (alpha_rate, beta_rate) = path.schedule.rates(t)
    # 1/w for w = β̇/β − α̇/α without division by 0; w < 1/_LEAST, or a few rows would dominate.
    inverse = alpha * beta / (beta_rate * alpha - alpha_rate * beta)
    losses = jnp.sum((learned + 2.0 * unexplained) * learned, axis=-1) / (inverse + _LEAST)
    return jnp.repeat(losses, _EVERY_SPATIAL)[: batch.t.shape[0]]
