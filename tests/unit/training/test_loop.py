"""The loop: what it keeps, when it stops, and that a seed fixes everything."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.laws.registry import anchor, randomised
from tests.unit.training.dial import (
    BRISK,
    PATH,
    Dial,
    Towards,
    key,
    objective,
    source,
    turned,
)

from secant.models import Anchored, MixtureAnchor, ResidualMLP, SpectralSecant
from secant.targets import Batch, ImpliedVelocity, TangentVelocity
from secant.training import Status, Training
from secant.training.held_out import HeldOut
from secant.training.loop import train
from secant.training.loop import Problem
from secant.training.step import split

pytestmark = pytest.mark.usefixtures("unoptimised")


def score(weight, goal):
    return float((np.float32(weight) - np.float32(goal)) ** 2)


def test_all_steps_are_done_and_looked_at():
    reported = []
    result = turned(Towards(5.0), Towards(5.0), report=reported.append, steps=25)
    assert result.status is Status.FINISHED
    assert [record.step for record in result.history] == [0, 10, 20, 25]
    assert tuple(reported) == result.history[1:]
    assert result.steps == result.best_step == 25
    assert result.seconds >= result.history[-1].seconds > 0


def test_the_best_by_the_held_out_loss_is_restored():
    # Training walks from 0 to 5, the held-out loss is lowest when it passes 1.
    result = turned(Towards(5.0), Towards(1.0))
    assert result.status is Status.FINISHED
    assert 0 < result.best_step < 100
    looks = {record.step: record.held_out for record in result.history}
    assert result.held_out.value == min(looks.values()) == looks[result.best_step]
    assert score(result.model.weight, 1.0) == pytest.approx(result.held_out.value, rel=1e-6)


def test_the_untrained_model_is_a_candidate():
    result = turned(Towards(5.0), Towards(0.0))
    assert result.best_step == 0
    assert float(result.model.weight) == 0.0


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_counts_looks_without_a_gain(patience):
    result = turned(Towards(5.0), Towards(1.0), patience=patience)
    assert result.status is Status.EARLY_STOPPED
    assert result.steps == result.best_step + 10 * patience


def test_the_wall_clock_stops_it_after_a_look():
    result = turned(Towards(5.0), Towards(5.0), max_seconds=1e-9)
    assert result.status is Status.TIME_UP
    assert result.steps == 10
    assert result.best_step == 10


@pytest.mark.parametrize("side", ["training", "held-out"])
def test_divergence_keeps_the_best_finite_state(side):
    broken, whole = Towards(5.0, edge=2.0), Towards(5.0)
    result = turned(broken, whole) if side == "training" else turned(whole, broken)
    assert result.status is Status.DIVERGED
    assert not result.status.is_good
    assert 0 < result.best_step <= result.steps < 100
    assert 0 < float(result.model.weight) < 5
    assert np.isfinite(result.held_out.value)


def test_divergence_to_minus_infinity_keeps_the_best_finite_state():
    result = turned(Towards(5.0), Towards(5.0, edge=2.0, beyond=-float("inf")))
    assert result.status is Status.DIVERGED
    assert np.isfinite(result.held_out.value)


def test_an_absurd_learning_rate_is_survived():
    result = turned(Towards(5.0), Towards(5.0), learning_rate=1e30)
    assert result.status is Status.DIVERGED
    assert result.best_step == 0
    assert float(result.model.weight) == 0.0
    assert np.isfinite(result.held_out.value)


def weights(model):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_array))]


def fitted(seed):
    """A real if tiny fit of the velocity form."""
    model = randomised(SpectralSecant(2, ResidualMLP(4, 1)), 2)
    rng = np.random.default_rng(1)
    x_0, x_1 = rng.standard_normal((2, 32, 2)).astype(np.float32)
    l, t = np.sort(rng.uniform(size=(2, 32)), axis=0).astype(np.float32)
    problem = Problem(
        model,
        source(n=64, d=2),
        objective(TangentVelocity()),
        HeldOut(Batch(x_0, x_1, np.zeros_like(x_0), l, t), PATH, ImpliedVelocity()),
        Training(**(BRISK | {"steps": 20, "learning_rate": 0.01})),
        key(seed),
    )
    return train(problem, lambda record: None)


def losses(result):
    return [(record.loss, record.held_out) for record in result.history[1:]]


def test_same_seed_same_bits():
    first, again, other = fitted(0), fitted(0), fitted(1)
    assert losses(first) == losses(again)
    assert first.best_step == again.best_step > 0
    for a, b in zip(weights(first.model), weights(again.model), strict=True):
        np.testing.assert_array_equal(a, b)
    assert losses(first) != losses(other)


def test_the_anchor_is_not_trained():
    model = Anchored(anchor(1, PATH), Dial(jnp.zeros(())))
    before = weights(model.anchor)
    result = turned(Towards(5.0), Towards(5.0), model=model, steps=10)
    assert float(result.model.residual.weight) > 0
    for a, b in zip(before, weights(result.model.anchor), strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_kind_of_anchor_stays_out_of_the_weights():
    single = anchor(2, PATH)
    for fixed in (single, MixtureAnchor.of([single, single], np.array([0.5, 0.5]))):
        trainable, rest = split(Anchored(fixed, Dial(jnp.ones(()))))
        assert [float(leaf) for leaf in jax.tree.leaves(trainable)] == [1.0]
        whole = eqx.combine(trainable, rest)
        for a, b in zip(weights(whole.anchor), weights(fixed), strict=True):
            np.testing.assert_array_equal(a, b)
