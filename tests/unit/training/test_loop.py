"""The loop: the state it keeps, when it stops, the second run, and reproducibility."""

import warnings

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
    objective,
    source,
    turned,
    words,
)

from secant import DivergenceWarning
from secant.curricula import ContractionIntervalAnnealing
from secant.models import Anchored, MixtureAnchor, ResidualMLP, SpectralSecant
from secant.targets import ImpliedVelocity, TangentVelocity, Target
from secant.training import Status, Training, checkpointing
from secant.training.held_out import HeldOut
from secant.training.loop import Problem, train
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


class Noisy(Target):
    """A gain of `gain` · w on average, and of w more or less from row to row of x_0 = ±1."""

    gain: float

    def losses(self, model, path, batch):
        value = model.time_score(batch.x_0, batch.t)
        return -value * (self.gain + batch.x_0[:, 0])

    def time_range(self, path):
        return 0.0, 1.0


def noisily_judged(gain, **settings):
    """Train towards 5, judged by sixteen rows of ±1, all paired with one row.

    The mean difference to the untrained weight is w · gain, its standard error w · √(1/16).
    """
    x, row = np.repeat([-1.0, 1.0], 8).astype(np.float32)[:, None], np.arange(16)
    judge = HeldOut(x, x, row, 8 * (row % 2), PATH, Noisy(gain))
    training = Training(**(BRISK | settings))
    problem = Problem(
        Dial(jnp.zeros(())), source(), objective(Towards(5.0)), judge, training, words()
    )
    return train(problem, lambda record: None)


@pytest.mark.parametrize(("gain", "is_kept"), [(0.24, False), (0.26, True)])
def test_a_state_is_kept_if_it_is_better_by_more_than_a_standard_error(gain, is_kept):
    result = noisily_judged(gain, steps=10, patience=None)
    assert result.history[-1].held_out < result.history[0].held_out  # lower either way
    assert result.best_step == (10 if is_kept else 0)
    assert (float(result.model.weight) > 0.0) == is_kept


@pytest.mark.parametrize(("gain", "steps"), [(0.24, 50), (-0.24, 20)])
def test_training_goes_on_while_the_held_out_loss_falls(gain, steps):
    # It falls or rises at every look, never by more than its standard error.
    result = noisily_judged(gain, steps=50, patience=2)
    assert result.best_step == 0
    assert result.steps == steps


class AlongIntervals(Towards):
    """The same for a target that looks at intervals, so that a curriculum matters."""

    uses_intervals = True


@pytest.mark.parametrize(
    ("target", "stops_at"),
    [(AlongIntervals(5.0), 60), (Towards(5.0), 10)],
    ids=["annealed", "no intervals"],
)
def test_patience_waits_until_the_curriculum_has_settled(target, stops_at):
    # The untrained weight is best, so that patience has run out at the first look.
    result = turned(target, Towards(0.0), patience=1, curriculum=ContractionIntervalAnnealing(0.55))
    assert result.status is Status.EARLY_STOPPED
    assert result.steps == stops_at


def test_the_wall_clock_stops_it_after_a_look():
    result = turned(Towards(5.0), Towards(5.0), max_seconds=1e-9)
    assert result.status is Status.TIME_UP
    assert result.steps == 10
    assert result.best_step == 10


@pytest.mark.parametrize("side", ["training", "held-out"])
def test_divergence_keeps_the_best_finite_state(side):
    broken, whole = Towards(5.0, edge=2.0), Towards(5.0)
    with pytest.warns(DivergenceWarning):
        result = turned(broken, whole) if side == "training" else turned(whole, broken)
    assert result.status is Status.DIVERGED
    assert not result.status.is_good
    assert 0 < result.best_step <= result.steps < 100
    assert 0 < float(result.model.weight) < 5
    assert np.isfinite(result.held_out.value)


def test_divergence_to_minus_infinity_keeps_the_best_finite_state():
    with pytest.warns(DivergenceWarning):
        result = turned(Towards(5.0), Towards(5.0, edge=2.0, beyond=-float("inf")))
    assert result.status is Status.DIVERGED
    assert np.isfinite(result.held_out.value)


def test_an_absurd_learning_rate_is_survived():
    with pytest.warns(DivergenceWarning, match=r"1e\+30, and by step 10 at 1e\+29"):
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
    row = np.arange(32)
    problem = Problem(
        model,
        source(n=64, d=2),
        objective(TangentVelocity()),
        HeldOut(x_0, x_1, row, row, PATH, ImpliedVelocity()),
        Training(**(BRISK | {"steps": 20, "learning_rate": 0.01})),
        words(seed),
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


# A hundred steps of 0.1 take the weight from 0 past 2, a hundred of 0.01 do not.
EDGE = 2.0


def bits(result):
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(result.model)]
    return [leaf.tobytes() for leaf in leaves], [r[2:] for r in result.history[1:]]


def test_a_training_that_ends_well_is_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = turned(Towards(5.0), Towards(5.0))
    assert found.status is Status.FINISHED
    assert [record.step for record in found.history] == [*range(0, 101, 10)]  # one try


def test_the_second_try_is_the_training_at_a_tenth_of_the_rate():
    target, judge = Towards(5.0, edge=EDGE), Towards(0.7)
    with pytest.warns(DivergenceWarning, match=r"step [234]0 at a learning rate of 0\.1; a sec"):
        found = turned(target, judge)
    assert found.status is Status.FINISHED
    assert found.steps == 100
    assert bits(found) == bits(turned(target, judge, learning_rate=0.01))


def test_the_better_of_the_two_is_kept():
    # The first try comes as near to 1.9 as its last look before the edge, the second not half way.
    target, judge = Towards(5.0, edge=EDGE), Towards(1.9)
    with pytest.warns(DivergenceWarning, match="the better of the two"):
        found = turned(target, judge)
    assert found.status is Status.DIVERGED
    # Without the edge, the first try sees the same up to the look at which it fell.
    whole = turned(Towards(5.0), judge).history
    first = min(record.held_out for record in whole if record.step < found.steps)
    assert found.held_out.value == first
    assert first < turned(target, judge, learning_rate=0.01).held_out.value


def test_two_failures_are_told_with_both_rates_and_stay_finite():
    always = Towards(5.0, edge=-1.0)
    with pytest.warns(DivergenceWarning, match=r"by step 10 at a .* 0\.1, and by step 10 at 0\.01"):
        found = turned(always, Towards(5.0))
    assert found.status is Status.DIVERGED
    assert found.best_step == 0
    assert np.isfinite(found.held_out.value)


def test_a_loss_that_is_never_finite_does_not_hide_one_that_is():
    # NaN is less than nothing and more than nothing: neither comparison may pick it.
    target = Towards(5.0, edge=EDGE)
    with pytest.warns(DivergenceWarning):
        found = turned(target, Towards(5.0, edge=0.4))
    assert np.isfinite(found.held_out.value)
    assert 0.0 < float(found.model.weight) < 0.4


def test_no_second_try_without_time():
    with pytest.warns(DivergenceWarning, match=r"max_seconds left no time for a second try"):
        found = turned(Towards(5.0, edge=-1.0), Towards(5.0), max_seconds=1e-9)
    assert found.status is Status.DIVERGED


def test_a_stopped_second_try_goes_on_from_its_own_checkpoint(tmp_path):
    target, judge = Towards(5.0, edge=EDGE), Towards(0.7)
    found = []
    for _ in range(2):
        with checkpointing(tmp_path), pytest.warns(DivergenceWarning):
            found.append(turned(target, judge, max_seconds=1000.0))
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "training-0.checkpoint",
        "training-1.checkpoint",
    ]
    assert bits(found[0]) == bits(found[1])
