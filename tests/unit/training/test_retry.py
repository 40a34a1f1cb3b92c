"""A training that diverged is tried once more, with a smaller step, and told of either way."""

import warnings

import jax
import numpy as np
import pytest
from tests.unit.training.dial import Towards, turned

from secant import DivergenceWarning
from secant.training import Status, checkpointing
from secant.training.loop import train_again_if_diverged

pytestmark = pytest.mark.usefixtures("unoptimised")

# A hundred steps of 0.1 take the weight from 0 past 2, a hundred of 0.01 do not.
EDGE = 2.0


def again_turned(target, judge, **settings):
    return turned(target, judge, run=train_again_if_diverged, **settings)


def bits(result):
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(result.model)]
    return [leaf.tobytes() for leaf in leaves], [r[2:] for r in result.history[1:]]


def test_a_training_that_ends_well_is_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = again_turned(Towards(5.0), Towards(5.0))
    assert bits(found) == bits(turned(Towards(5.0), Towards(5.0)))


def test_the_second_try_is_the_training_at_a_tenth_of_the_rate():
    target, judge = Towards(5.0, edge=EDGE), Towards(0.7)
    with pytest.warns(DivergenceWarning, match=r"step [234]0 at a learning rate of 0\.1; a sec"):
        found = again_turned(target, judge)
    assert found.status is Status.FINISHED
    assert found.steps == 100
    assert bits(found) == bits(turned(target, judge, learning_rate=0.01))


def test_the_better_of_the_two_is_kept():
    # The first try comes as near to 1.9 as its last look before the edge, the second not half way.
    target, judge = Towards(5.0, edge=EDGE), Towards(1.9)
    with pytest.warns(DivergenceWarning, match="the better of the two"):
        found = again_turned(target, judge)
    first, second = (turned(target, judge, learning_rate=r) for r in (0.1, 0.01))
    assert first.held_out.value < second.held_out.value
    assert found.held_out.value == first.held_out.value
    assert found.status is Status.DIVERGED


def test_two_failures_are_told_with_both_rates_and_stay_finite():
    always = Towards(5.0, edge=-1.0)
    with pytest.warns(DivergenceWarning, match=r"by step 10 at a .* 0\.1, and by step 10 at 0\.01"):
        found = again_turned(always, Towards(5.0))
    assert found.status is Status.DIVERGED
    assert found.best_step == 0
    assert np.isfinite(found.held_out.value)


def test_a_loss_that_is_never_finite_does_not_hide_one_that_is():
    # NaN is less than nothing and more than nothing: neither comparison may pick it.
    target = Towards(5.0, edge=EDGE)
    with pytest.warns(DivergenceWarning):
        found = again_turned(target, Towards(5.0, edge=0.4))
    assert np.isfinite(found.held_out.value)
    assert 0.0 < float(found.model.weight) < 0.4


def test_no_second_try_without_time():
    with pytest.warns(DivergenceWarning, match=r"max_seconds left no time for a second try"):
        found = again_turned(Towards(5.0, edge=-1.0), Towards(5.0), max_seconds=1e-9)
    assert found.status is Status.DIVERGED


def test_a_stopped_second_try_goes_on_from_its_own_checkpoint(tmp_path):
    target, judge = Towards(5.0, edge=EDGE), Towards(0.7)
    found = []
    for _ in range(2):
        with checkpointing(tmp_path), pytest.warns(DivergenceWarning):
            found.append(again_turned(target, judge, max_seconds=1000.0))
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "training-0.checkpoint",
        "training-1.checkpoint",
    ]
    assert bits(found[0]) == bits(found[1])
