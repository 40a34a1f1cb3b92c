"""Time-score matching (T1): zero slope at the truth needs every one of its five terms."""

import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import batch, oracle, slope_z, z_scores

from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.schedules import Foellmer
from secant.targets import ConstantWeight, FadingWeight, TimeScoreMatching

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionBridge(gamma=0.5, epsilon=0.1)
WEIGHTS = [ConstantWeight(), FadingWeight()]


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
def test_slope_vanishes_at_the_truth_and_not_beside_it(weight):
    truth, target = oracle(PATH, standard=False), TimeScoreMatching(weight)
    rows = batch(truth)
    assert (np.abs(slope_z(target, truth, rows)) < 4.5).all()  # standard errors, 5 directions
    assert (np.abs(slope_z(target, truth, rows, theta=0.2)) > 10).sum() >= 4


def test_excess_loss_is_the_weighted_squared_distance():
    weight = FadingWeight()
    truth, target = oracle(PATH, standard=False), TimeScoreMatching(weight)
    rows = batch(truth)

    @filter_jit
    def excess(f, rows):
        x_t = PATH.point(rows.x_0, rows.x_1, rows.z, rows.t).x_t
        gap = jnp.sum(f.push(x_t, rows.t, rows.t), axis=-1)
        losses = target.losses(f, PATH, rows) - target.losses(truth, PATH, rows)
        return losses, weight(rows.t) * gap**2

    losses, squares = (np.asarray(a) for a in excess(truth.pushed(np.full(5, 0.1)), rows))
    assert abs(z_scores(losses - squares)) < 4.5  # standard errors


def test_weights():
    t = jnp.asarray([0.0, 0.5, 1.0])
    np.testing.assert_array_equal(ConstantWeight()(t), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(FadingWeight()(t), [1.0, 0.75, 0.0])


def test_whole_of_time_is_needed_on_every_path():
    assert TimeScoreMatching().time_range(DiffusionInterpolant(Foellmer())) == (0.0, 1.0)
