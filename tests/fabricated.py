"""Fitted estimators without training, for tests of what follows a fit.

Rows, scaling, anchor and diagnostics are those of a real fit. The network is random: its answers
differ from row to row, where those of an untrained one are zero everywhere.
"""

from contextlib import contextmanager

import equinox as eqx
import jax
import numpy as np
import pytest

from secant import fitting
from secant.training.held_out import HeldOut, HeldOutScore
from secant.training.loop import TrainingResult
from secant.training.settings import Record, Status
from secant.training.step import split

SCORE = HeldOutScore(-0.12, 0.01)


def randomised(model, seed=0, scale=0.1):
    """The model with random weights."""
    rng, (weights, rest) = np.random.default_rng(seed), split(model)
    drawn = jax.tree.map(
        lambda leaf: (scale * rng.standard_normal(leaf.shape)).astype(leaf.dtype), weights
    )
    return eqx.combine(jax.device_put(drawn), rest)


def _not_trained(problem, report):
    steps, (_, word) = problem.training.steps, problem.key.tolist()
    history = (
        Record(0, 0.0, float("nan"), 0.0),
        Record(max(steps // 2, 1), 0.1, -0.08, -0.07),
        Record(steps, 0.2, -0.13, SCORE.value),
    )
    for record in history[1:]:
        report(record)
    model = randomised(problem.model, word)
    return TrainingResult(model, Status.FINISHED, SCORE, steps, steps, 0.2, history)


@contextmanager
def without_training():
    """A context in which fits return random networks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "train", _not_trained)
        patch.setattr(HeldOut, "score", lambda self, model: SCORE)
        yield


def fabricated(estimator, x_0, x_1, **settings):
    """The estimator as after a fit to these samples."""
    with without_training():
        return estimator.fit_samples(x_0, x_1, **settings)
