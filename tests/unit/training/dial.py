"""The smallest training problem: one weight moved towards a goal."""

import os
import signal

import jax
import jax.numpy as jnp
import numpy as np

from secant.curricula import FullIntervals
from secant.models import SecantFunction
from secant.paths import DiffusionInterpolant
from secant.targets import Target
from secant.time_samplers import Uniform
from secant.training import Training
from secant.training.held_out import HeldOut
from secant.training.loop import Problem, train
from secant.training.sources import ArraySource, Weighted
from secant.training.step import Objective

PATH = DiffusionInterpolant()


class Dial(SecantFunction):
    """One weight, whatever x and t."""

    weight: jax.Array

    def parts(self, x, l, t):
        return jnp.broadcast_to(self.weight, (x.shape[0], 1))

    def time_score(self, x, t):
        return jnp.broadcast_to(self.weight, t.shape)


class Towards(Target):
    """(w − goal)², and `beyond` instead where w > edge."""

    goal: float
    edge: float = float("inf")
    beyond: float = float("nan")

    def losses(self, model, path, batch):
        value = model.time_score(batch.x_0, batch.t)
        return jnp.where(value > self.edge, self.beyond, (value - self.goal) ** 2)

    def time_range(self, path):
        return 0.0, 1.0


def key(seed=0):
    """A key whose generator compiles fast."""
    return jax.random.key(seed, impl="rbg")


def words(seed=0):
    """The bits of a key, as a training is given them."""
    return np.array([0, seed], dtype=np.uint32)


def press(at_step, number=signal.SIGINT):
    """A reporter that presses Ctrl-C, or sends another signal, at a look."""

    def report(record):
        if record.step == at_step:
            os.kill(os.getpid(), number)

    return report


def source(n=6, d=1):
    rows = np.random.default_rng(0).standard_normal((2, n, d)).astype(np.float32)
    return ArraySource(Weighted(jnp.asarray(rows[0])), Weighted(jnp.asarray(rows[1])))


def objective(target, curriculum=FullIntervals()):  # noqa: B008, as it never changes
    return Objective(target, PATH, Uniform(), curriculum)


def held_out(target, n=4, d=1):
    x, row = np.zeros((n, d), np.float32), np.arange(n)
    return HeldOut(x, x, row, row, PATH, target)


# Adam moves the weight by about the rate: a hundred steps of 0.1 go past both goals below.
BRISK = {"batch_size": 4, "learning_rate": 0.1, "warmup": 0, "average": 0.0, "evaluate_every": 10}


def turned(
    target,
    judge,
    *,
    model=None,
    rows=None,
    report=lambda record: None,
    curriculum=FullIntervals(),  # noqa: B008, as it never changes
    **settings,
):
    """Train the dial from 0, or another model, on one target, evaluated by another."""
    problem = Problem(
        Dial(jnp.zeros(())) if model is None else model,
        source() if rows is None else rows,
        objective(target, curriculum),
        held_out(judge),
        Training(**({"steps": 100, "patience": None} | BRISK | settings)),
        words(),
    )
    return train(problem, report)
