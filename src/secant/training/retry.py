"""A second try, with a smaller step, of a training that diverged."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

from secant.exceptions import DivergenceWarning
from secant.training.history import Status
from secant.training.loop import TrainingResult, train
from secant.training.problem import Problem
from secant.training.progress import Reporter
from secant.training.settings import Training

__all__ = ["train_again_if_diverged"]

_SMALLER = 10.0  # times: the schedule's peak


def train_again_if_diverged(problem: Problem, report: Reporter) -> TrainingResult:
    """Train; if the loss became infinite or NaN, once more with a tenth of the learning rate.

    From the start and with the same key: the second try is the training that `Training` with that
    learning rate would have been, and the best state of the first may stand at the edge it fell
    from. Of the two, the model with the lower held-out loss is kept. A wall-clock budget holds for
    both together.
    """
    first = train(problem, report)
    if first.status is not Status.DIVERGED:
        return first
    smaller = _smaller(problem.training, first)
    again = None if smaller is None else train(replace(problem, training=smaller), report)
    _warn(first, again, problem.training)
    return first if again is None else min((again, first), key=_finite_loss)


def _smaller(training: Training, first: TrainingResult) -> Training | None:
    """The settings of the second try; None if no time is left for one."""
    rate, left = training.learning_rate / _SMALLER, training.max_seconds
    if left is None:
        return replace(training, learning_rate=rate)
    # By the record, not by the clock: a training found in a checkpoint leaves as much time again.
    left -= first.history[-1].seconds
    return replace(training, learning_rate=rate, max_seconds=left) if left > 0.0 else None


def _finite_loss(result: TrainingResult) -> float:
    loss = result.held_out.value
    return loss if math.isfinite(loss) else math.inf


def _warn(first: TrainingResult, again: TrainingResult | None, training: Training) -> None:
    rate = training.learning_rate
    said = f"the loss became infinite or NaN by step {first.steps} at a learning rate of {rate:g}"
    if again is None:
        said += ", and Training.max_seconds left no time for a second try. Try a smaller one"
    elif again.status is Status.DIVERGED:
        said += (
            f", and by step {again.steps} at {rate / _SMALLER:g}. The best earlier state is kept, "
            f"of step {min((again, first), key=_finite_loss).best_step}. Look for extreme values "
            "in the data, or try a learning rate smaller still"
        )
    else:
        said += (
            f"; a second try at {rate / _SMALLER:g} did not diverge, and the better of the two by "
            f"the held-out loss is kept. Set Training(learning_rate={rate / _SMALLER:g})"
        )
    warnings.warn(f"{said}.", DivergenceWarning, stacklevel=2)
