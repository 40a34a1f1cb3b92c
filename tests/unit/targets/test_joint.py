"""Joint score matching (T2): both halves rest at the truth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import Oracle, batch, oracle, slopes, z_scores

from secant.models import JointScore
from secant.paths import DiffusionBridge
from secant.targets import FadingWeight, JointScoreMatching, TimeScoreMatching

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionBridge(gamma=0.5, epsilon=0.1)


class TrueScores(JointScore):
    """Both scores in closed form; θ pushes the time score, the data score, or both."""

    oracle: Oracle
    data: float
    time: float

    def pushed(self, theta):
        return TrueScores(self.oracle.pushed(theta), self.data, self.time)

    def parts(self, x, l, t):
        return self.oracle.true_secant(x, l, t) + self.time * self.oracle.push(x, l, t)

    def time_score(self, x, t):
        return jnp.sum(self.parts(x, t, t), axis=-1)

    def data_score(self, x, t):
        density = lambda x: jnp.sum(self.oracle.log_density(x, t))  # noqa: E731 -- differentiated
        return jax.grad(density)(x) + self.data * self.oracle.push(x, t, t)


@pytest.mark.parametrize(("data", "time"), [(1.0, 0.0), (0.0, 1.0)], ids=["data", "time"])
def test_rests_at_both_true_scores_only(data, time):
    truth = oracle(PATH, standard=False)
    model, rows = TrueScores(truth, data, time), batch(truth)
    z = z_scores(slopes(JointScoreMatching(), model, PATH, rows, np.zeros(5)))
    assert (np.abs(z) < 4.5).all()  # standard errors, 5 directions
    beside = z_scores(slopes(JointScoreMatching(), model, PATH, rows, np.full(5, 0.2)))
    assert np.max(np.abs(beside)) > 10


def test_time_half_is_time_score_matching():
    truth = oracle(PATH)
    rows = batch(truth, n=50)
    still, joint = TrueScores(truth, 0.0, 1.0), JointScoreMatching(FadingWeight())
    moved = still.pushed(np.full(5, 0.1))

    @filter_jit
    def rise(target):
        return target.losses(moved, PATH, rows) - target.losses(still, PATH, rows)

    gap, expected = rise(joint), rise(TimeScoreMatching(FadingWeight()))
    np.testing.assert_allclose(gap, expected, rtol=1e-9, atol=1e-9)


def test_directions_change_from_batch_to_batch():
    truth = oracle(PATH)
    model = TrueScores(truth, 1.0, 0.0).pushed(np.full(5, 0.1))
    first = batch(truth, n=50)
    second = first._replace(t=first.t + np.where(np.arange(50) == 0, 1e-3, 0.0))
    losses = filter_jit(lambda rows: JointScoreMatching().losses(model, PATH, rows))
    one, other = (np.asarray(losses(rows)) for rows in (first, second))
    assert np.mean(one[1:] != other[1:]) > 0.5


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="JointScoreMatching trains a JointScore; got Oracle"):
        JointScoreMatching().losses(oracle(PATH), PATH, batch(oracle(PATH), n=4))
