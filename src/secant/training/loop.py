"""The training loop: compiled chunks of steps, the held-out loss after each, the best state."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field, replace

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree, UInt32

from secant.exceptions import DivergenceWarning
from secant.training.checkpoint_files import (
    Causes,
    Progress,
    Slot,
    common_fingerprint,
    digests,
)
from secant.training.checkpoints import is_interrupted, keeping, next_slot
from secant.training.devices import agreed, current_devices, highest
from secant.training.held_out import HeldOut, HeldOutScore
from secant.training.optimisers import Adam, Optimiser
from secant.training.settings import Record, Reporter, Status, Training
from secant.training.sources import Source, source_key
from secant.training.step import (
    Objective,
    Pace,
    Steps,
    TrainingState,
    run_steps,
    split,
    started,
)

__all__ = ["Problem", "TrainingResult", "train"]

_SLOWER = 10.0  # factor of the learning rate in a second run


@dataclass(frozen=True)
class Problem:
    """The inputs of a training run.

    Attributes:
        model: the initial model.
        source: of the rows.
        objective: the loss to minimise.
        held_out: the held-out loss, which selects the best state.
        training: the settings.
        key: the bits of the random key for all random numbers.
        optimiser: the update rule.
    """

    model: PyTree
    source: Source
    objective: Objective
    held_out: HeldOut
    training: Training
    key: UInt32[np.ndarray, " words"]
    optimiser: Optimiser = field(default_factory=Adam)


@dataclass(frozen=True)
class TrainingResult:
    """The best model by the held-out loss, and the training record."""

    model: PyTree
    status: Status
    held_out: HeldOutScore
    best_step: int
    steps: int
    seconds: float
    history: tuple[Record, ...]


def train(problem: Problem, report: Reporter) -> TrainingResult:
    """Train; if the loss becomes infinite or NaN, train again at a tenth of the learning rate.

    The second run starts from the initial state with the same key, because the best state of the
    first may be unstable. The model with the lower held-out loss is kept. A wall-clock budget
    applies to both runs together.
    """
    first = _trained(problem, report)
    if first.status is not Status.DIVERGED:
        return first
    # By the record, not by the clock, so that a resumed run leaves the same time.
    slower = problem.training.slower(_SLOWER, first.history[-1].seconds)
    again = None if slower is None else _trained(replace(problem, training=slower), report)
    kept = first if again is None else min((again, first), key=_finite_loss)
    _warn_of_divergence(first, again, kept, problem.training.learning_rate)
    return kept


def _trained(problem: Problem, report: Reporter) -> TrainingResult:
    """Train until the steps, the time or the patience run out, or the loss diverges.

    The initial model is a candidate too, so that two samples of one distribution give a log ratio
    of zero rather than fitted noise. Inside `keeping_best_on_interrupt`, Ctrl-C ends the run too;
    inside `checkpointing` it resumes; inside `data_parallel` its batches are divided over devices,
    and every process takes the same decisions.
    """
    began = time.perf_counter()
    training, devices = problem.training, current_devices()
    devices.check(training.batch_size)
    weights, rest = split(problem.model)
    seeds = np.random.SeedSequence(problem.key.tolist())
    key_rows, key_steps = seeds.generate_state(4).reshape(2, 2)
    source, kept_apart, objective = devices.everywhere((problem.source, rest, problem.objective))
    pace = Pace.of(training)
    state = started(weights, problem.optimiser, pace, jax.device_put(key_steps))
    state = devices.everywhere(state)

    def steps_on(rows: Source) -> Steps:
        return Steps(
            kept_apart, rows, objective, pace, problem.optimiser, training.batch_size, devices
        )

    slot = _slot(problem)
    best = _Best(problem.held_out, rest, weights)
    history = [Record(0, 0.0, float("nan"), best.score.value)]
    if slot is not None:
        found = slot.restored(_progress(devices.here(state), best, history))
        state, history = devices.everywhere(found.arrays[0]), list(found.history)
        best.resume(found)
    step, began = history[-1].step, began - history[-1].seconds
    status = _status(history, best, problem)
    with keeping(slot) as keep:
        while status is Status.RUNNING:
            ahead, total = training.steps_to_next_look(step), 0.0
            for n_steps in source.rounds(ahead):
                rows = source.loaded(source_key(key_rows, step), n_steps, training.batch_size)
                number = jax.device_put(np.asarray(n_steps, dtype=np.int32))
                state, mean = run_steps(steps_on(rows), state, number)
                step, total = step + n_steps, total + n_steps * float(mean)
            held_out = best.offer(devices.here(state.average), step)
            seconds, loss = agreed(time.perf_counter() - began, total / ahead)
            history.append(Record(step, seconds, loss, held_out))
            report(history[-1])
            status = _status(history, best, problem)
            keep(_progress(devices.here(state), best, history), status is not Status.RUNNING)
    seconds = time.perf_counter() - began
    return TrainingResult(
        best.model(), status, best.score, best.step, step, seconds, tuple(history)
    )


class _Best:
    """The averaged weights with the lowest held-out loss so far."""

    def __init__(self, held_out: HeldOut, rest: PyTree, weights: PyTree) -> None:
        self._held_out, self._rest = held_out, rest
        self._keep(weights, self._losses(weights), 0)

    def _losses(self, weights: PyTree) -> np.ndarray:
        return self._held_out.losses(eqx.combine(weights, self._rest))

    def _keep(self, weights: PyTree, losses: np.ndarray, step: int) -> None:
        # On the host, because the loop donates its buffers to the next chunk.
        self.weights = jax.tree.map(np.array, weights)
        self.losses, self.step, self.looks_since = losses, step, 0
        self.score = HeldOutScore(*agreed(*self._held_out.mean(losses)))

    def offer(self, weights: PyTree, step: int) -> float:
        """Keep these weights if they are better; their held-out loss either way.

        Both states are evaluated at the same pairs, times and noise. One is better if the mean
        difference of their losses exceeds its standard error.
        """
        losses = self._losses(weights)
        with np.errstate(invalid="ignore"):  # of a loss that is infinite
            gained = self._held_out.mean(self.losses - losses)
        value, gain, error = agreed(float(losses.mean()), *gained)
        was_finite = math.isfinite(self.score.value)
        if math.isfinite(value) and (gain > error or not was_finite):
            self._keep(weights, losses, step)
        else:
            self.looks_since += 1
        return value

    def resume(self, found: Progress) -> None:
        """Restore the best state from a checkpoint."""
        step, looks_since = found.best
        self._keep(found.arrays[1], self._losses(found.arrays[1]), step)
        self.looks_since = looks_since

    def model(self) -> PyTree:
        """The model with these weights, on JAX's device."""
        return eqx.combine(jax.device_put(self.weights), self._rest)


def _slot(problem: Problem) -> Slot | None:
    """The checkpoint file of the run, or None; checks that all processes make the same run."""

    def fingerprint() -> dict[str, str]:
        return common_fingerprint(digests(_causes(problem)))

    slot = next_slot(fingerprint)
    if slot is None and current_devices().processes > 1:
        fingerprint()
    return slot


def _causes(problem: Problem) -> Causes:
    """Digests that identify a run, without the wall-clock budget, which may change."""
    held_out, how = problem.held_out, replace(problem.training, max_seconds=None)
    return Causes(
        seed=problem.key,
        settings=(how, problem.objective, problem.optimiser, held_out.target),
        data=(held_out.batch, problem.source),
        model=problem.model,
    )


def _progress(state: TrainingState, best: _Best, history: list[Record]) -> Progress:
    return Progress((state, best.weights), (best.step, best.looks_since), tuple(history))


def _status(history: list[Record], best: _Best, problem: Problem) -> Status:
    training, record = problem.training, history[-1]
    is_finite = math.isfinite(record.loss) and math.isfinite(record.held_out)
    if record.step > 0 and not is_finite:
        return Status.DIVERGED
    if record.step >= training.steps:
        return Status.FINISHED
    if highest(is_interrupted()):
        return Status.INTERRUPTED
    if training.max_seconds is not None and record.seconds > training.max_seconds:
        return Status.TIME_UP
    # While a curriculum changes the intervals, the held-out loss may rise before it falls.
    is_settled = record.step >= problem.objective.settled_at * training.steps
    if training.patience is not None and is_settled and best.looks_since >= training.patience:
        is_falling = _is_lowest([r.held_out for r in history[-best.looks_since :]])
        return Status.RUNNING if is_falling else Status.EARLY_STOPPED
    return Status.RUNNING


def _is_lowest(losses: list[float]) -> bool:
    """Whether the last loss is below all earlier ones: training has begun to learn."""
    return len(losses) > 1 and losses[-1] < min(losses[:-1])


def _finite_loss(result: TrainingResult) -> float:
    loss = result.held_out.value
    return loss if math.isfinite(loss) else math.inf


def _warn_of_divergence(
    first: TrainingResult, again: TrainingResult | None, kept: TrainingResult, rate: float
) -> None:
    said = f"the loss became infinite or NaN by step {first.steps} at a learning rate of {rate:g}"
    if again is None:
        said += ", and Training.max_seconds left no time for a second try. Try a smaller one"
    elif again.status is Status.DIVERGED:
        said += (
            f", and by step {again.steps} at {rate / _SLOWER:g}. The best earlier state is kept, "
            f"of step {kept.best_step}. Look for extreme values in the data, or try a learning "
            "rate smaller still"
        )
    else:
        said += (
            f"; a second try at {rate / _SLOWER:g} did not diverge, and the better of the two by "
            f"the held-out loss is kept. Set Training(learning_rate={rate / _SLOWER:g})"
        )
    warnings.warn(f"{said}.", DivergenceWarning, stacklevel=2)
