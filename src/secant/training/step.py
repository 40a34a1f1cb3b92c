"""One training step and a compiled loop of many.

Numbers (steps, rates, seeds, row counts) enter the program as arrays, so changing them does not
recompile. A program depends on shapes and parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree, UInt32

from secant.curricula import Curriculum
from secant.models.anchor import Anchor
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.time_samplers import TimeSampler
from secant.training.devices import Devices
from secant.training.optimisers import Adam, Optimiser
from secant.training.settings import Training
from secant.training.sources import Source

__all__ = [
    "Objective",
    "Pace",
    "Steps",
    "TrainingState",
    "run_steps",
    "split",
    "started",
]

Words = UInt32[Array, " words"]  # the bits of a random key
Number = Float[Array, ""]


class Objective(eqx.Module):
    """The objective: a target on a path, at times drawn by a sampler under a curriculum."""

    target: Target
    path: Path
    time_sampler: TimeSampler
    curriculum: Curriculum

    def intervals(
        self, key: PRNGKeyArray, n: int, progress: Float[Array, ""]
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """n intervals l ≤ t inside the target's time range, l = t for targets of the tangent."""
        low, high = self.target.time_range(self.path)
        if self.target.uses_intervals:
            key_pairs, key_curriculum = jax.random.split(key)
            l, t = self.time_sampler.pairs(key_pairs, n)
            l = self.curriculum.left_ends(key_curriculum, l, t, progress)
        else:
            l = t = self.time_sampler.sample(key, n)
        return low + (high - low) * l, low + (high - low) * t

    @property
    def settled_at(self) -> float:
        """The share of training after which the objective no longer changes."""
        return self.curriculum.settled_at if self.target.uses_intervals else 0.0

    def batch(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        rows: tuple[Float[Array, "n d"], Float[Array, "n d"]],
        progress: Float[Array, ""],
    ) -> Batch:
        """A batch from paired rows; keys of its times and of its noise."""
        key_times, key_noise = keys
        l, t = self.intervals(key_times, rows[0].shape[0], progress)
        return Batch(*rows, self.path.noise(key_noise, rows[0]), l, t)


class Pace(NamedTuple):
    """The numbers of a `Training` that a step depends on, as arrays."""

    steps: Number
    learning_rate: Number
    warmup: Number
    clip: Number
    average: Number

    @classmethod
    def of(cls, training: Training) -> Pace:
        """The pace of these settings."""
        warmup = min(training.warmup, training.steps // 2)
        numbers = (training.steps, training.learning_rate, warmup, training.clip, training.average)
        return cls(*jax.device_put([np.asarray(n, dtype=np.float32) for n in numbers]))

    def rate(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """The learning rate: a linear warm-up to its peak, then half a cosine down to 0."""
        rising = step / jnp.maximum(self.warmup, 1.0)
        share = (step - self.warmup) / (self.steps - self.warmup)
        falling = 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.clip(share, 0.0, 1.0)))
        return self.learning_rate * jnp.where(step < self.warmup, rising, falling)


class Steps(eqx.Module):
    """The constants of the loop."""

    rest: PyTree  # the model's untrained part, see `split`
    source: Source
    objective: Objective
    pace: Pace
    optimiser: Optimiser = Adam()
    batch_size: int = eqx.field(static=True, default=512)
    devices: Devices = eqx.field(static=True, default=Devices())


class TrainingState(eqx.Module):
    """The state of the loop: weights, their moving average, the optimiser's state, step and key."""

    weights: PyTree
    average: PyTree
    memory: Any
    step: Int[Array, ""]
    key: Words


def _rule(optimiser: Optimiser, pace: Pace) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(pace.clip), optimiser.at(pace.rate))


@eqx.filter_jit
def started(weights: PyTree, optimiser: Optimiser, pace: Pace, key: Words) -> TrainingState:
    """The state before the first step.

    It has its own buffers, because the loop donates them and the weights may be used again.
    """
    own, average = (jax.tree.map(jnp.copy, weights) for _ in range(2))
    memory = _rule(optimiser, pace).init(weights)
    return TrainingState(own, average, memory, jnp.zeros((), jnp.int32), jnp.copy(key))


def _one_step(
    steps: Steps, state: TrainingState, round_: Int[Array, ""]
) -> tuple[TrainingState, Float[Array, ""]]:
    # Two words, independent of JAX's default generator.
    start = jax.random.wrap_key_data(state.key, impl="threefry2x32")
    key, key_rows, key_times, key_noise = jax.random.split(start, 4)
    rows = steps.source.draw(key_rows, steps.batch_size, round_)
    progress = state.step / steps.pace.steps
    batch = steps.devices.split(steps.objective.batch((key_times, key_noise), rows, progress))

    def mean_loss(weights: PyTree) -> Float[Array, ""]:
        model = eqx.combine(weights, steps.rest)
        return jnp.mean(steps.objective.target.losses(model, steps.objective.path, batch))

    loss, gradient = steps.devices.alike(jax.value_and_grad(mean_loss)(state.weights))
    rule = _rule(steps.optimiser, steps.pace)
    updates, memory = rule.update(gradient, state.memory, state.weights)
    weights = optax.apply_updates(state.weights, updates)
    # A smaller decay at first, otherwise the initial weights dominate for 1/(1 − decay) steps.
    decay = jnp.minimum(steps.pace.average, (1.0 + state.step) / (10.0 + state.step))
    average = optax.incremental_update(weights, state.average, 1.0 - decay)
    bits = jax.random.key_data(key)
    return TrainingState(weights, average, memory, state.step + 1, bits), loss


@eqx.filter_jit(donate="all-except-first")
def run_steps(
    steps: Steps, state: TrainingState, n_steps: Int[Array, ""]
) -> tuple[TrainingState, Float[Array, ""]]:
    """`n_steps` steps in one compiled loop; returns the new state and the mean loss.

    Data are arguments, because arrays in a closure would become constants of the program.
    """

    def body(
        round_: Int[Array, ""], carry: tuple[TrainingState, Float[Array, ""]]
    ) -> tuple[TrainingState, Float[Array, ""]]:
        state, loss = _one_step(steps, carry[0], round_)
        return state, carry[1] + loss

    start = (state, jnp.zeros((), jax.dtypes.canonicalize_dtype(float)))
    state, total = jax.lax.fori_loop(0, n_steps, body, start)
    return state, total / n_steps


def split(model: PyTree) -> tuple[PyTree, PyTree]:
    """Trainable weights and the rest; no part of the anchor, a closed form, is trained."""
    spec = jax.tree.map(
        lambda leaf: not isinstance(leaf, Anchor) and eqx.is_inexact_array(leaf),
        model,
        is_leaf=lambda node: isinstance(node, Anchor),
    )
    return eqx.partition(model, spec)
