"""One training step and a compiled run of many."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from secant.curricula import Curriculum
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.time_samplers import TimeSampler
from secant.training.devices import Devices
from secant.training.optimisers import Adam, Optimiser
from secant.training.settings import Training
from secant.training.sources import Source
from secant.training.state import TrainingState, scheduled

__all__ = ["Objective", "Run", "run_steps"]


class Objective(eqx.Module):
    """What is minimised: the target on a path, at times drawn by a sampler under a curriculum."""

    target: Target
    path: Path
    time_sampler: TimeSampler
    curriculum: Curriculum

    def intervals(
        self, key: PRNGKeyArray, n: int, progress: Float[Array, ""]
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """n intervals l ≤ t inside the target's time range, l = t for targets of the tangent."""
        low, high = self.target.time_range(self.path)
        key_pairs, key_curriculum = jax.random.split(key)
        if self.target.uses_intervals:
            l, t = self.time_sampler.pairs(key_pairs, n)
            l = self.curriculum.left_ends(key_curriculum, l, t, progress)
        else:
            l = t = self.time_sampler.sample(key_pairs, n)
        return low + (high - low) * l, low + (high - low) * t

    def batch(
        self,
        key: PRNGKeyArray,
        rows: tuple[Float[Array, "n d"], Float[Array, "n d"]],
        progress: Float[Array, ""],
    ) -> Batch:
        """A batch from paired rows."""
        key_times, key_noise = jax.random.split(key)
        l, t = self.intervals(key_times, rows[0].shape[0], progress)
        return Batch(*rows, self.path.noise(key_noise, rows[0]), l, t)


class Run(eqx.Module):
    """All that stays the same from step to step."""

    rest: PyTree  # the model's untrained part, see `split`
    source: Source
    objective: Objective
    training: Training
    optimiser: Optimiser = Adam()
    devices: Devices = eqx.field(static=True, default=Devices())


def _one_step(
    run: Run, state: TrainingState, round_: Int[Array, ""]
) -> tuple[TrainingState, Float[Array, ""]]:
    key, key_rows, key_batch = jax.random.split(state.key, 3)
    rows = run.source.draw(key_rows, run.training.batch_size, round_)
    progress = state.step / run.training.steps
    batch = run.devices.split(run.objective.batch(key_batch, rows, progress))

    def mean_loss(weights: PyTree) -> Float[Array, ""]:
        model = eqx.combine(weights, run.rest)
        return jnp.mean(run.objective.target.losses(model, run.objective.path, batch))

    loss, gradient = run.devices.alike(jax.value_and_grad(mean_loss)(state.weights))
    rule = scheduled(run.optimiser, run.training)
    updates, memory = rule.update(gradient, state.memory, state.weights)
    weights = optax.apply_updates(state.weights, updates)
    # Young averages forget faster, or the initial weights would linger for 1/(1 − decay) steps.
    decay = jnp.minimum(run.training.average, (1.0 + state.step) / (10.0 + state.step))
    average = optax.incremental_update(weights, state.average, 1.0 - decay)
    return TrainingState(weights, average, memory, state.step + 1, key), loss


@eqx.filter_jit(donate="all-except-first")
def run_steps(
    run: Run, state: TrainingState, n_steps: int
) -> tuple[TrainingState, Float[Array, " n_steps"]]:
    """`n_steps` steps in one compiled loop; returns the new state and the losses.

    Data and tables come in as arguments: an array closed over would be folded into the program.
    """
    return jax.lax.scan(partial(_one_step, run), state, jnp.arange(n_steps))
