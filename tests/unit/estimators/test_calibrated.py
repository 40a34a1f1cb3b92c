"""Isotonic calibration of a log ratio on held-out rows."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression

from secant import IsotonicRatio, SklearnRatio
from secant.diagnostics import calibration_curve
from secant.estimators import RatioEstimator
from secant.estimators.calibrated import _isotonic

N, SHIFT = 4000, 0.7


class Exaggerated(RatioEstimator):
    """Three times the true log ratio of N(0.7, 1) to N(0, 1), and half a nat more."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def _fit(self, sample_0, sample_1, seed):
        self.diagnostics_ = None

    def _log_ratio(self, X):
        return 3.0 * (SHIFT * X[:, 0] - 0.5 * SHIFT**2) + 0.5


def samples(seed=0, n=N):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, 1)), rng.normal(SHIFT, 1, (n, 1))


@pytest.fixture(scope="module")
def found():
    return IsotonicRatio(Exaggerated(), random_state=0).fit_samples(*samples())


def test_an_exaggerated_ratio_becomes_the_true_one(found):
    at = np.linspace(-1.5, 2.0, 30)[:, None]
    truth = SHIFT * at[:, 0] - 0.5 * SHIFT**2
    error = np.sqrt(np.mean((found.log_ratio(at) - truth) ** 2))
    assert error < 0.2  # blocks of isotonic regression are of about n^(2/3) rows
    assert np.sqrt(np.mean((found.estimator_.log_ratio(at) - truth) ** 2)) > 1.0


def test_fresh_rows_are_calibrated(found):
    zero, one = (found.log_ratio(x) for x in samples(seed=1, n=20_000))
    curve = calibration_curve(zero, one)
    assert curve.recalibration.slope == pytest.approx(1.0, abs=0.15)
    raw = calibration_curve(*(found.estimator_.log_ratio(x) for x in samples(seed=1)))
    assert raw.recalibration.slope < 0.4


def test_the_ratio_averages_one_over_the_rows_of_the_fit():
    """(Q3): the blocks have the shares of both samples, so their ratios add up to 1."""
    zero, one = (np.round(x[:, 0], 1) for x in samples())
    shares = [np.full(N, 1.0 / N)] * 2
    at, values = _isotonic([zero, one], shares)
    inside = (values > values.min()) & (values < values.max())
    low, high = at[inside].min(), at[inside].max()
    kept = [(v >= low) & (v <= high) for v in (zero, one)]
    ratios = np.exp(np.interp(zero[kept[0]], at, values))
    assert ratios.sum() / N == pytest.approx(kept[1].mean(), rel=1e-9)


def test_values_are_those_of_scikit_learn():
    zero, one = (x[:, 0] for x in samples(n=300))
    at, values = _isotonic([zero, one], [np.full(300, 1.0 / 300)] * 2)
    plain = IsotonicRegression().fit(np.concatenate([zero, one]), np.repeat([0.0, 1.0], 300))
    inside = slice(2, -2)
    assert 1 / (1 + np.exp(-values[inside])) == pytest.approx(plain.predict(at[inside]), abs=1e-12)


def test_rows_of_one_sample_alone_count_as_if_there_were_half_a_row_of_the_other():
    zero, one = np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.5, 3.0, 5.0, 6.0])
    at, values = _isotonic([zero, one], [np.full(4, 0.25)] * 2)
    assert (at[0], at[-1]) == (0.0, 6.0)
    assert values[[0, -1]] == pytest.approx([-np.log(5.0), np.log(5.0)])
    apart = _isotonic([zero, zero + 10.0], [np.full(4, 0.25)] * 2)[1]
    assert apart == pytest.approx([-np.log(9.0)] * 2 + [np.log(9.0)] * 2)


def test_the_order_is_kept_and_the_ends_are_finite(found):
    at = np.linspace(-50.0, 50.0, 500)[:, None]
    values = found.log_ratio(at)
    assert (np.diff(values) >= 0.0).all()
    assert np.abs(values).max() <= np.log(2.0 * N + 1.0)


def test_weights_count():
    x_0, x_1 = samples()
    weights = np.exp(-SHIFT * x_1[:, 0])  # which bring x_1 back to N(0, 1)
    found = IsotonicRatio(Exaggerated(), random_state=0).fit_samples(x_0, x_1, weight_1=weights)
    assert np.abs(found.log_ratio(np.array([[-0.5], [0.0], [0.5]]))).max() < 0.3


def test_diagnostics_are_of_rows_that_were_not_seen():
    """A forest that knows its rows by heart is calibrated by others."""
    x_0, x_1 = samples(n=500)
    forest = SklearnRatio(RandomForestClassifier(20, random_state=0), folds=None)
    found = IsotonicRatio(forest, folds=2, random_state=0).fit_samples(x_0, x_1)
    assert found.diagnostics_.mean_log_ratio_1 == pytest.approx(0.5 * SHIFT**2, abs=0.15)


def test_what_is_refused():
    with pytest.raises(ValueError, match="`folds` must be an integer of at least 2"):
        IsotonicRatio(Exaggerated(), folds=1).fit_samples(*samples(n=20))
    with pytest.raises(TypeError, match="must be a RatioEstimator"):
        IsotonicRatio(3).fit_samples(*samples(n=20))
