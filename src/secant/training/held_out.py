"""The held-out score: a target's loss on rows that training never sees."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.time_samplers import Uniform

__all__ = ["HeldOut", "HeldOutScore"]

_ROWS_AT_ONCE = 2048


class HeldOutScore(eqx.Module):
    """A held-out loss with its standard error; lower is better."""

    value: float
    standard_error: float


class HeldOut(eqx.Module):
    """Fixed pairs, times and noise, so that two models are compared on the same draw.

    With `ImpliedVelocity` the score is J(f) = E[f² − 2 ẋ_t·∇f] (V1): ‖f − s‖² − ‖s‖² for any model
    however it was trained, and no truth is needed. Half of the rows ask the tangent (l = t), half
    what a secant implies for it.
    """

    batch: Batch
    path: Path
    target: Target

    @classmethod
    def drawn(
        cls,
        x_0: Float[Array, "n d"],
        x_1: Float[Array, "n d"],
        path: Path,
        target: Target,
        *,
        key: PRNGKeyArray,
    ) -> HeldOut:
        """Pairs of the given rows, in the given order, at stratified times."""
        key_times, key_noise, key_left = jax.random.split(key, 3)
        n = x_0.shape[0]
        low, high = target.time_range(path)
        t = low + (high - low) * Uniform().sample(key_times, n)
        # U(0, 2) cut at 1: half of the rows have l = t, the others l uniform on [low, t].
        share = jnp.minimum(jax.random.uniform(key_left, (n,), maxval=2.0), 1.0)
        l = low + share * (t - low)
        return cls(Batch(x_0, x_1, path.noise(key_noise, x_0), l, t), path, target)

    def score(self, model: PyTree) -> HeldOutScore:
        """J of a model."""
        losses = _losses(self, model)
        error = jnp.std(losses) / jnp.sqrt(losses.size)
        return HeldOutScore(float(jnp.mean(losses)), float(error))


@eqx.filter_jit
def _losses(held_out: HeldOut, model: PyTree) -> Float[Array, " n"]:
    def losses(batch: Batch) -> Float[Array, " n"]:
        return held_out.target.losses(model, held_out.path, batch)

    n = held_out.batch.t.shape[0]
    whole = n - n % _ROWS_AT_ONCE
    pieces = []
    if whole:
        blocks = jax.tree.map(
            lambda a: a[:whole].reshape(-1, _ROWS_AT_ONCE, *a.shape[1:]), held_out.batch
        )
        pieces.append(jax.lax.map(losses, blocks).reshape(-1))
    if n - whole:
        pieces.append(losses(jax.tree.map(lambda a: a[whole:], held_out.batch)))
    return jnp.concatenate(pieces)
