"""The standard error of the log ratio at every row."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from secant import BootstrapRatio, SignedRatio, SklearnRatio

N = 300
AT = np.array([[-1.5, 0.0], [0.0, 0.0], [0.5, 1.0], [2.5, -1.0]])


def linear():
    return SklearnRatio(LogisticRegression(C=1e6), folds=None)


def samples(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, 1.0, (N, 2)), rng.normal([0.5, 0.0], 1.0, (N, 2))


def test_the_error_is_the_deviation_over_worlds():
    """(U1) against the truth: fits to 200 independent pairs of samples."""
    fits = [linear().fit_samples(*samples(seed)).log_ratio(AT) for seed in range(200)]
    truth = np.std(fits, axis=0)
    worlds = [
        BootstrapRatio(linear(), n_members=40, random_state=seed)
        .fit_samples(*samples(seed))
        .log_ratio_error(AT)
        for seed in range(8)
    ]
    # Spreads of 40 members over 8 worlds have an error of 4 %, that of 200 worlds 5 %.
    assert np.mean(worlds, axis=0) == pytest.approx(truth, rel=4.5 * 0.065)


def test_the_estimate_is_the_mean_of_the_members():
    found = BootstrapRatio(linear(), n_members=5, random_state=0).fit_samples(*samples(0))
    each = [member.log_ratio(AT) for member in found.members_]
    assert found.log_ratio(AT) == pytest.approx(np.mean(each, axis=0))
    assert found.log_ratio_error(AT) == pytest.approx(np.std(each, axis=0, ddof=1))


def test_given_weights_count():
    x_0, x_1 = samples(0)
    ones = np.repeat([1.0, 0.0], [200, 100])
    found = BootstrapRatio(linear(), n_members=5, random_state=0)
    weighted = found.fit_samples(x_0, x_1, weight_1=ones).log_ratio(AT)
    x_1[200:] = 1e3
    assert found.fit_samples(x_0, x_1, weight_1=ones).log_ratio(AT) == pytest.approx(weighted)


def test_signed_weights_go_to_an_estimator_that_takes_them():
    x_0, x_1 = samples(0)
    weights = np.where(np.arange(N) % 5 == 0, -1.0, 1.0)
    ratio = BootstrapRatio(SignedRatio(linear()), n_members=3, random_state=0)
    found = ratio.fit_samples(x_0, x_1, weight_1=weights)
    assert (found.log_ratio_error(AT) > 0.0).all()


def test_what_is_refused():
    with pytest.raises(ValueError, match="`n_members` must be an integer of at least 2"):
        BootstrapRatio(linear(), n_members=1).fit_samples(*samples(0))
    with pytest.raises(TypeError, match="must be a RatioEstimator"):
        BootstrapRatio("linear").fit_samples(*samples(0))
