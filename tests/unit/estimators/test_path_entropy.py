import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from secant import OutlierWarning, PathEntropy, Training
from secant.estimators.path_entropy import EntropyDifference
from secant.models.networks import ResidualMLP
from secant.models.velocity import MeanVelocity
from secant.scaling import LEVELS, Scaling

COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 0.25]])
TRUTH = -0.5 * np.linalg.slogdet(COVARIANCE)[1]  # of N(0, I) against N(0, COVARIANCE)


def estimator(**settings):
    defaults = {
        "training": Training(steps=60, batch_size=128, evaluate_every=30),
        "random_state": 0,
    }
    return PathEntropy(MeanVelocity(ResidualMLP(width=16, depth=0)), **{**defaults, **settings})


def samples(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.multivariate_normal(np.zeros(3), COVARIANCE, n)


def test_gaussian_entropies():
    found = estimator().fit_samples(*samples())
    # Four moments from 4,000 rows: the error of ½ log det is about √(3/2n).
    assert found.difference_.value == pytest.approx(TRUTH, abs=4 * np.sqrt(1.5 / 4000))
    fresh = found.entropy_difference(*samples(seed=1))
    assert fresh.value == pytest.approx(TRUTH, abs=4 * np.sqrt(1.5 / 4000))
    assert 0.0 < fresh.standard_error < 0.02


def test_units_shift_both_entropies_alike():
    x_0, x_1 = samples()
    plain = estimator().fit_samples(x_0, x_1).difference_.value
    scaled = estimator().fit_samples(1e3 * x_0 - 7.0, 1e3 * x_1 - 7.0).difference_.value
    assert scaled == pytest.approx(plain, abs=1e-3)


def test_the_network_learns_what_the_anchor_lacks():
    # Without an anchor, all of the velocity is the network's.
    training = Training(steps=600, batch_size=256, evaluate_every=100, learning_rate=5e-3)
    found = estimator(anchor=False, training=training).fit_samples(*samples())
    assert found.difference_.value == pytest.approx(TRUTH, abs=0.15)
    assert abs(estimator(anchor=False).fit_samples(*samples()).difference_.value) < TRUTH


def test_an_unfitted_one_says_so():
    with pytest.raises(NotFittedError, match=r"call fit_samples\(x_0, x_1\) first"):
        estimator().entropy_difference(*samples(50))


@pytest.mark.parametrize("part", ["path", "training"])
def test_a_part_of_a_wrong_kind_is_refused(part):
    with pytest.raises(TypeError, match=f"`{part}` must be a .* or None; got 3"):
        estimator(**{part: 3}).fit_samples(*samples(50))


def test_it_clones():
    assert clone(estimator()).get_params() == estimator().get_params()


def test_far_values_drawn_in_do_not_bend_the_difference():
    # f is y up to 3 and 3 + log(y − 2) beyond: U(10, 20) loses E[log(y − 2)] nats of entropy.
    scaling = Scaling(np.zeros(1), np.ones(1), (True,), LEVELS[None])
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.uniform(0.0, 2.0, (20_000, 1)), rng.uniform(10.0, 20.0, (20_000, 1))
    lost = (18 * np.log(18) - 8 * np.log(8)) / 10 - 1.0
    scaled = EntropyDifference(np.log(2.0) - (np.log(10.0) - lost), 0.0)
    found = scaled.unbent(scaling, x_0, x_1)
    assert found.value == pytest.approx(-np.log(5.0), abs=4.5 * found.standard_error)
    assert found.standard_error == pytest.approx(np.log(x_1 - 2.0).std() / np.sqrt(20_000))
    affine = Scaling(np.ones(1), np.full(1, 2.0), (False,), LEVELS[None])
    assert scaled.unbent(affine, x_0, x_1) is scaled


MISSED = "three far rows of 3,200 have no component of their own: one start of EM passed them by"


@pytest.mark.parametrize(
    "seed", [pytest.param(0, marks=pytest.mark.xfail(reason=MISSED)), 1, 2], ids=str
)
def test_outliers_leave_the_entropies_of_the_rest(seed):
    x_0, x_1 = samples()
    plain = estimator(random_state=seed).fit_samples(x_0, x_1).difference_
    x_0[:5, 0] = 1e12  # some are held out
    with pytest.warns(OutlierWarning):
        found = estimator(random_state=seed).fit_samples(x_0, x_1)
    assert any(found.scaling_.tabulated)
    assert found.difference_.value == pytest.approx(plain.value, abs=0.1)
