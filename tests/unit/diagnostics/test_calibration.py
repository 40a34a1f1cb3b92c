"""Calibration of Gaussian pairs, whose log ratio is calibrated, and of bent ones."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from secant.diagnostics import calibration_curve

SHIFT = 1.5


def scores(n_0=20_000, n_1=8000, seed=0):
    """The true log ratio of N(0, 1) → N(SHIFT, 1) at rows of either."""
    rng = np.random.default_rng(seed)
    zero, one = rng.standard_normal(n_0), SHIFT + rng.standard_normal(n_1)
    return SHIFT * zero - 0.5 * SHIFT**2, SHIFT * one - 0.5 * SHIFT**2


@pytest.mark.parametrize("n_bins", [2, 10, 30])
def test_the_true_ratio_predicts_what_is_found_however_wide_the_bins(n_bins):
    found = calibration_curve(*scores(), n_bins=n_bins)
    assert found.n_bins == n_bins
    # A log odds of a few hundred rows a bin; half a row added moves it by less than 0.01.
    off = np.abs(found.predicted - found.observed) - 0.01
    assert (off < 4.0 * found.standard_error).all()


def test_bins_are_counted_by_hand():
    zero, one = np.arange(0.0, 20.0), np.arange(10.0, 30.0)
    found = calibration_curve(zero, one, n_bins=4)
    np.testing.assert_array_equal(found.counts_0, [10, 5, 5, 0])
    np.testing.assert_array_equal(found.counts_1, [0, 5, 5, 10])
    np.testing.assert_allclose(found.mean_log_ratio, [4.5, 12.0, 17.0, 24.5])
    assert found.observed[1] == pytest.approx(0.0)
    assert found.observed[3] == pytest.approx(np.log(10.5 / 0.5))
    assert found.standard_error[1] == pytest.approx(np.sqrt(2 / 5.5 - 2 / 20.5))
    np.testing.assert_array_equal(found.is_bound, [True, False, False, True])


def test_both_samples_weigh_the_same():
    zero, one = scores()
    found = calibration_curve(zero, one)
    again = calibration_curve(np.repeat(zero, 3), one)
    np.testing.assert_allclose(again.predicted, found.predicted, atol=1e-9)
    np.testing.assert_allclose(again.observed, found.observed, atol=2e-3)  # half a row
    assert again.recalibration.slope == pytest.approx(found.recalibration.slope, rel=1e-6)
    shares = found.counts_0 / zero.size + found.counts_1 / one.size
    np.testing.assert_allclose(shares, 0.2, atol=1e-3)


def test_errors_of_bins_and_line_are_as_large_as_the_deviations():
    repeats = 150
    bins, slopes, intercepts = [], [], []
    for seed in range(repeats):
        found = calibration_curve(*scores(1000, 500, seed), n_bins=4)
        bins.append((found.observed - found.predicted) / found.standard_error)
        line = found.recalibration
        slopes.append((line.slope - 1.0) / line.slope_error)
        intercepts.append(line.intercept / line.intercept_error)
    # A standard deviation of 150 normal numbers has an error of 1/√300; the bin's own rows say
    # something about both odds, so theirs deviate a little less.
    assert np.std(slopes) == pytest.approx(1.0, abs=4.5 / np.sqrt(300))
    assert np.std(intercepts) == pytest.approx(1.0, abs=4.5 / np.sqrt(300))
    assert np.std(bins) == pytest.approx(1.0, abs=0.2)
    assert np.mean(slopes) == pytest.approx(0.0, abs=4.5 / np.sqrt(repeats) + 0.1)


@pytest.mark.parametrize(("steeper", "moved"), [(1.0, 0.0), (2.0, 0.0), (0.5, 0.3)])
def test_the_line_undoes_what_was_done(steeper, moved):
    zero, one = scores()
    line = calibration_curve(steeper * zero + moved, steeper * one + moved).recalibration
    assert line.slope == pytest.approx(1.0 / steeper, abs=4.5 * line.slope_error)
    assert line.intercept == pytest.approx(-moved / steeper, abs=4.5 * line.intercept_error)
    assert line.slope_error < 0.05 / steeper


def test_the_line_is_that_of_weighted_logistic_regression():
    zero, one = scores(500, 200)
    line = calibration_curve(zero, one).recalibration
    y = np.repeat([0, 1], [500, 200])
    model = LogisticRegression(C=np.inf, class_weight="balanced", tol=1e-10)
    model.fit(np.concatenate([zero, one])[:, None], y)
    assert line.slope == pytest.approx(model.coef_[0, 0], rel=1e-5)
    assert line.intercept == pytest.approx(model.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_scores_of_any_size(scale):
    zero, one = scores(2000, 1000)
    line = calibration_curve(scale * zero, scale * one).recalibration
    expected = calibration_curve(zero, one).recalibration
    assert line.slope * scale == pytest.approx(expected.slope, rel=1e-6)
    assert line.slope_error * scale == pytest.approx(expected.slope_error, rel=1e-6)


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        (np.arange(-9.0, 0.0), np.arange(1.0, 9.0)),  # any line steep enough would do
        (np.zeros(30), np.zeros(20)),
        (np.array([1.0]), np.array([2.0])),
        (np.full(5, np.nan), np.zeros(5)),
    ],
)
def test_a_line_that_the_rows_leave_open_is_unknown(zero, one):
    found = calibration_curve(zero, one)
    assert not found.recalibration.is_known
    assert np.isnan(found.recalibration.slope)


def test_infinite_scores_are_left_out_and_ties_stay_together():
    zero, one = scores(200, 200)
    spoiled = calibration_curve(np.append(zero, -np.inf), np.append(one, np.nan))
    np.testing.assert_array_equal(spoiled.observed, calibration_curve(zero, one).observed)
    tied = calibration_curve(np.repeat([0.0, 1.0], 50), np.repeat([0.0, 1.0], [20, 80]))
    np.testing.assert_array_equal(tied.counts_0, [50, 50])
    np.testing.assert_array_equal(tied.counts_1, [20, 80])
