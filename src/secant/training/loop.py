"""The training loop: compiled chunks, a look at the held-out loss after each, the best kept."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray, PyTree

from secant.training.checkpoints import Progress, next_slot
from secant.training.held_out import HeldOut, HeldOutScore
from secant.training.history import Record, Status
from secant.training.interruption import is_interrupted
from secant.training.progress import Reporter
from secant.training.settings import Training
from secant.training.sources import Source
from secant.training.state import TrainingState, split
from secant.training.step import Objective, Run, run_steps

__all__ = ["TrainingResult", "train"]


@dataclass(frozen=True)
class TrainingResult:
    """The best model by the held-out loss, and how it came about."""

    model: PyTree
    status: Status
    held_out: HeldOutScore
    best_step: int
    steps: int
    seconds: float
    history: tuple[Record, ...]


class _Best:
    """The averaged weights with the lowest held-out loss so far."""

    def __init__(self, held_out: HeldOut, rest: PyTree, weights: PyTree) -> None:
        self._held_out, self._rest = held_out, rest
        self.step, self.weights = 0, _copied(weights)
        self.score = held_out.score(eqx.combine(weights, rest))
        self.looks_since = 0

    def offer(self, weights: PyTree, step: int) -> float:
        """Keep these weights if they are the best; their held-out loss either way."""
        score = self._held_out.score(eqx.combine(weights, self._rest))
        if math.isfinite(score.value) and not self.score.value <= score.value:
            self.score, self.weights, self.step = score, _copied(weights), step
            self.looks_since = 0
        else:
            self.looks_since += 1
        return score.value

    def resume(self, found: Progress) -> None:
        """Take the place of the best that was found before a stop."""
        self.weights = found.arrays[1]
        self.step, value, error, self.looks_since = found.best
        self.score = HeldOutScore(value, error)

    def model(self) -> PyTree:
        return eqx.combine(self.weights, self._rest)


def _copied(weights: PyTree) -> PyTree:
    """A copy that survives: the loop donates its buffers to the next chunk."""
    return jax.tree.map(jnp.array, weights)


def train(
    model: PyTree,
    source: Source,
    objective: Objective,
    held_out: HeldOut,
    training: Training,
    *,
    key: PRNGKeyArray,
    report: Reporter,
) -> TrainingResult:
    """Train a model until the steps, the time or the patience run out, or the loss diverges.

    The untrained model counts as a candidate: two samples of one distribution give a log ratio of
    zero rather than fitted noise. Within `keeping_best_on_interrupt`, Ctrl-C ends it too; within
    `checkpointing` it goes on from where it was stopped.
    """
    weights, rest = split(model)
    best = _Best(held_out, rest, weights)
    key_rows, key_steps = jax.random.split(key)
    state = TrainingState.start(weights, training, key=key_steps)
    # The key is of the seed, the rest of the data and the settings.
    slot = next_slot((training, objective, held_out.batch, jax.random.key_data(key)))
    first = Record(0, 0.0, float("nan"), best.score.value)
    found = _progress(state, best, (first,), Status.RUNNING)
    if slot is not None:
        found = slot.restored(found)
        best.resume(found)
        state = state.with_arrays(found.arrays[0])
    history, status, step = list(found.history), found.status, found.history[-1].step
    began = time.perf_counter() - history[-1].seconds
    if is_interrupted():  # Ctrl-C in an earlier stage of the same fit ends the later ones, too
        status = Status.INTERRUPTED
    while status is Status.RUNNING:
        n_steps = min(training.evaluate_every, training.steps - step)
        rows = source.loaded(jax.random.fold_in(key_rows, step), n_steps, training.batch_size)
        state, losses = run_steps(Run(rest, rows, objective, training.of_a_step), state, n_steps)
        step += n_steps
        loss, score = float(jnp.mean(losses)), best.offer(state.average, step)
        history.append(Record(step, time.perf_counter() - began, loss, score))
        report(history[-1])
        status = _status(history[-1], best, training)
        if slot is not None:
            slot.keep(_progress(state, best, tuple(history), status))
    seconds = time.perf_counter() - began
    return TrainingResult(
        best.model(), status, best.score, best.step, step, seconds, tuple(history)
    )


def _progress(
    state: TrainingState, best: _Best, history: tuple[Record, ...], status: Status
) -> Progress:
    score = best.score
    numbers = (best.step, score.value, score.standard_error, best.looks_since)
    return Progress((state.arrays, best.weights), numbers, history, status)


def _status(record: Record, best: _Best, training: Training) -> Status:
    if not (math.isfinite(record.loss) and math.isfinite(record.held_out)):
        return Status.DIVERGED
    if record.step >= training.steps:
        return Status.FINISHED
    if is_interrupted():
        return Status.INTERRUPTED
    if training.max_seconds is not None and record.seconds > training.max_seconds:
        return Status.TIME_UP
    if training.patience is not None and best.looks_since >= training.patience:
        return Status.EARLY_STOPPED
    return Status.RUNNING
