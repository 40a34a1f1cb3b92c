"""Time-score matching (T1): the loss of DRE-∞, with its boundary terms."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction
from secant.models.tangent import JointScore
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.targets.velocity import ImpliedVelocity


class TimeWeight(eqx.Module):
    """λ(t); its rate is taken by JVP."""

    @abc.abstractmethod
    def __call__(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The weight at each time."""


class ConstantWeight(TimeWeight):
    """λ = 1."""

    def __call__(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The weight at each time."""
        return jnp.ones_like(t)


class FadingWeight(TimeWeight):
    """λ = 1 − t²: vanishes at the end of the Föllmer path, as in DRE-∞."""

    def __call__(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The weight at each time."""
        return 1.0 - t**2


class TimeScoreMatching(Target):
    """(T1) 2λ(0) s(x_0, 0) − 2λ(1) s(x_1, 1) + 2λ ∂_t s + 2λ̇ s + λ s² at x_t.

    Integration of ∂_t(λ s) by parts removes the unknown score: the mean is ‖s_θ − s‖² up to a
    constant. t must be uniform on the whole of [0, 1].
    """

    weight: TimeWeight = ConstantWeight()

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        t, start, end = batch.t, jnp.zeros_like(batch.t), jnp.ones_like(batch.t)
        x_t = path.point(batch.x_0, batch.x_1, batch.z, t).x_t
        weight, weight_rate = jax.jvp(self.weight, (t,), (end,))
        score, score_rate = jax.jvp(lambda time: model.time_score(x_t, time), (t,), (end,))
        first = path.point(batch.x_0, batch.x_1, batch.z, start).x_t
        last = path.point(batch.x_0, batch.x_1, batch.z, end).x_t
        boundary = 2.0 * self.weight(start) * model.time_score(first, start)
        boundary -= 2.0 * self.weight(end) * model.time_score(last, end)
        inside = 2.0 * weight * score_rate + 2.0 * weight_rate * score + weight * score**2
        return boundary + inside

    def time_range(self, path: Path) -> tuple[float, float]:
        """The whole of [0, 1]: the boundary terms require it; no rates of the path are used."""
        del path
        return 0.0, 1.0

    @property
    def held_out(self) -> Target:
        """J, which has no noise from boundary terms."""
        return ImpliedVelocity()


class JointScoreMatching(Target):
    """(T1) for the time score plus sliced score matching for ∇_x log p_t, from one trunk (T2).

    λ [(v·g)² + 2 v·∂_v g], with g the data score and v random signs, is minimised by
    g = ∇_x log p_t. The log ratio uses the time score only; the data score trains the shared trunk.
    """

    weight: TimeWeight = ConstantWeight()

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        if not isinstance(model, JointScore):
            raise TypeError(f"JointScoreMatching trains a JointScore; got {type(model).__name__}.")
        x_t = path.point(batch.x_0, batch.x_1, batch.z, batch.t).x_t
        direction = _random_signs(batch)
        score, rate = jax.jvp(lambda x: model.data_score(x, batch.t), (x_t,), (direction,))
        along, bend = (jnp.sum(direction * v, axis=-1) for v in (score, rate))
        sliced = self.weight(batch.t) * (along**2 + 2.0 * bend)
        return sliced + TimeScoreMatching(self.weight).losses(model, path, batch)

    def time_range(self, path: Path) -> tuple[float, float]:
        """The whole of [0, 1], as (T1) needs it."""
        del path
        return 0.0, 1.0

    @property
    def held_out(self) -> Target:
        """J, which has no noise from boundary terms."""
        return ImpliedVelocity()


def _random_signs(batch: Batch) -> Float[Array, "n d"]:
    """±1 for every entry, by a key from the batch's random times, because targets have no key."""
    bits = jax.lax.bitcast_convert_type(batch.t[:1].astype(jnp.float32), jnp.uint32)[0]
    key = jax.random.fold_in(jax.random.key(0), bits)
    return jax.random.rademacher(key, batch.x_0.shape, batch.x_0.dtype)
