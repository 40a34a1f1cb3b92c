"""The training loop: compiled chunks, a look at the held-out loss after each, the best kept."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from secant.training.checkpoint_files import Progress, Slot
from secant.training.checkpoints import keeping, next_slot
from secant.training.devices import current_devices
from secant.training.fingerprints import Causes, digests
from secant.training.held_out import HeldOut, HeldOutScore
from secant.training.history import Record, Status
from secant.training.interruption import is_interrupted
from secant.training.problem import Problem
from secant.training.processes import agreed, common_fingerprint, highest
from secant.training.progress import Reporter
from secant.training.settings import Training
from secant.training.state import TrainingState, split
from secant.training.step import Run, run_steps

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
        self.score = self._judged(weights)
        self.looks_since = 0

    def _judged(self, weights: PyTree) -> HeldOutScore:
        score = self._held_out.score(eqx.combine(weights, self._rest))
        return HeldOutScore(*agreed(score.value, score.standard_error))

    def offer(self, weights: PyTree, step: int) -> float:
        """Keep these weights if they are the best; their held-out loss either way."""
        score = self._judged(weights)
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


def train(problem: Problem, report: Reporter) -> TrainingResult:
    """Train a model until the steps, the time or the patience run out, or the loss diverges.

    The untrained model counts as a candidate: two samples of one distribution give a log ratio of
    zero rather than fitted noise. Within `keeping_best_on_interrupt`, Ctrl-C ends it too; within
    `checkpointing` it goes on from where it was stopped; within `data_parallel` its batches are
    shared out, and all else is done, and decided alike, in every process.
    """
    training, devices = problem.training, current_devices()
    devices.check(training.batch_size)
    weights, rest = split(problem.model)
    best = _Best(problem.held_out, rest, weights)
    key_rows, key_steps = jax.random.split(problem.key)
    state = TrainingState.start(weights, training, problem.optimiser, key=key_steps)
    history = [Record(0, 0.0, float("nan"), best.score.value)]
    slot = _slot(problem)
    if slot is not None:
        found = slot.restored(_progress(state, best, history))
        best.resume(found)
        state, history = state.with_arrays(found.arrays[0]), list(found.history)
    step, began = history[-1].step, time.perf_counter() - history[-1].seconds
    status = _status(history[-1], best, training)
    source, kept_apart, objective = devices.everywhere((problem.source, rest, problem.objective))
    state = devices.everywhere(state)
    with keeping(slot) as keep:
        while status is Status.RUNNING:
            n_steps = min(training.evaluate_every, training.steps - step)
            key = jax.random.fold_in(key_rows, step)
            rows = source.loaded(key, n_steps, training.batch_size)
            run = Run(kept_apart, rows, objective, training.of_a_step, problem.optimiser, devices)
            state, losses = run_steps(run, state, n_steps)
            step += n_steps
            loss, score = float(jnp.mean(losses)), best.offer(devices.here(state.average), step)
            seconds, loss = agreed(time.perf_counter() - began, loss)
            history.append(Record(step, seconds, loss, score))
            report(history[-1])
            status = _status(history[-1], best, training)
            keep(_progress(devices.here(state), best, history), status is not Status.RUNNING)
    seconds = time.perf_counter() - began
    return TrainingResult(
        best.model(), status, best.score, best.step, step, seconds, tuple(history)
    )


def _slot(problem: Problem) -> Slot | None:
    """Where the training is to be written; told or not, processes see that theirs is the same."""

    def fingerprint() -> dict[str, str]:
        return common_fingerprint(digests(_causes(problem)))

    slot = next_slot(fingerprint)
    if slot is None and current_devices().processes > 1:
        fingerprint()
    return slot


def _causes(problem: Problem) -> Causes:
    """By what the training is known again. A wall-clock budget may grow: it only ends it."""
    held_out, how = problem.held_out, replace(problem.training, max_seconds=None)
    return Causes(
        seed=jax.random.key_data(problem.key),
        settings=(how, problem.objective, problem.optimiser, held_out.target),
        data=(held_out.batch, problem.source),
        model=problem.model,
    )


def _progress(state: TrainingState, best: _Best, history: list[Record]) -> Progress:
    score = best.score
    numbers = (best.step, score.value, score.standard_error, best.looks_since)
    return Progress((state.arrays, best.weights), numbers, tuple(history))


def _status(record: Record, best: _Best, training: Training) -> Status:
    is_finite = math.isfinite(record.loss) and math.isfinite(record.held_out)
    if record.step > 0 and not is_finite:
        return Status.DIVERGED
    if record.step >= training.steps:
        return Status.FINISHED
    if highest(is_interrupted()):
        return Status.INTERRUPTED
    if training.max_seconds is not None and record.seconds > training.max_seconds:
        return Status.TIME_UP
    if training.patience is not None and best.looks_since >= training.patience:
        return Status.EARLY_STOPPED
    return Status.RUNNING
