"""What kernel and off-the-shelf estimators share: held-out losses, diagnostics, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from secant import KernelRatio, OverlapWarning, SklearnRatio
from secant.diagnostics import Normaliser
from secant.estimators.direct import HeldOutRatios, stratified_folds

SHIFT = 0.7


def held_out(n=20_000):
    """The true log ratios of N(0, 1) → N(SHIFT, 1) at rows of either."""
    z_0, z_1 = np.random.default_rng(0).standard_normal((2, n))
    return HeldOutRatios(SHIFT * z_0 - 0.5 * SHIFT**2, SHIFT * z_1 + 0.5 * SHIFT**2)


def test_loss_is_lowest_at_the_true_log_ratio():
    true = held_out()
    best, error = true.loss()
    for change in (-0.2, 0.2):
        assert HeldOutRatios(true.zero + change, true.one + change).loss()[0] > best
        grown = HeldOutRatios((1 + change) * true.zero, (1 + change) * true.one)
        assert grown.loss()[0] > best
    # Two means of 20 000 losses, each of a standard deviation below 1.
    assert 0.0 < error < np.sqrt(2.0 / 20_000)


def test_no_knowledge_costs_two_log_two():
    assert HeldOutRatios(np.zeros(5), np.zeros(3)).loss() == (pytest.approx(2 * np.log(2)), 0.0)


def test_diagnostics_of_the_true_ratio():
    found = held_out().diagnostics()
    assert abs(found.normaliser.log_value) < 4.5 * found.normaliser.standard_error
    # KL is SHIFT²/2 each way; rows have a standard deviation of SHIFT.
    assert found.mean_log_ratio_1 == pytest.approx(0.245, abs=4.5 * SHIFT / np.sqrt(20_000))
    assert found.mean_log_ratio_0 == pytest.approx(-0.245, abs=4.5 * SHIFT / np.sqrt(20_000))
    found.warn()  # which is an error, were there anything to say


def test_a_ratio_that_levels_off_is_told():
    flat = replace(held_out().diagnostics(), normaliser=Normaliser(-4.0, 0.01))
    assert not flat.is_normalised
    with pytest.warns(OverlapWarning, match="the ratio averages 0.018 over held-out rows of x_0"):
        flat.warn()


def test_weighted_rows_are_drawn_in_proportion():
    values, shares = np.array([0.0, 1.0]).repeat(5000), np.array([1.0, 3.0]).repeat(5000)
    rng = np.random.default_rng(0)
    found = HeldOutRatios.resampled((values, values), (shares, None), rng)
    # 4.5 standard errors of a share of ¾ among 10 000.
    assert found.zero.mean() == pytest.approx(0.75, abs=4.5 * np.sqrt(0.75 * 0.25 / 10_000))
    np.testing.assert_array_equal(found.one, values)


def test_every_fold_has_its_part_of_every_group():
    folds = stratified_folds(np.repeat([0, 1, 2], [20, 11, 1]), 5, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(folds[:20]), [4, 4, 4, 4, 4])
    np.testing.assert_array_equal(np.bincount(folds[20:31]), [3, 2, 2, 2, 2])
    assert folds[31] == -1  # without it nothing of its group would be left
    assert stratified_folds(np.array([0, 0, 1, 1, 1]), 5, np.random.default_rng(0))[:2].max() == 1


ESTIMATORS = {
    "KernelRatio": KernelRatio(n_centers=20, random_state=0),
    "SklearnRatio": SklearnRatio(random_state=0),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return ESTIMATORS[request.param].__class__(**ESTIMATORS[request.param].get_params())


@pytest.mark.parametrize(("value", "message"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_bad_values_are_refused(estimator, samples, value, message):
    spoiled = samples.x_1.copy()
    spoiled[3, 1] = value
    with pytest.raises(ValueError, match=f"(?s)`x_1` must be a numeric array .*{message}"):
        estimator.fit_samples(samples.x_0, spoiled)
    with pytest.raises(NotFittedError, match="instance is not fitted yet"):
        estimator.log_ratio(samples.x_0)
    estimator.fit_samples(samples.x_0, samples.x_1)
    with pytest.raises(ValueError, match=message):
        estimator.log_ratio(spoiled)


def test_other_widths_and_labels_are_refused(estimator, samples):
    with pytest.raises(ValueError, match=r"`x_1` must have shape \(n, d\) with d = 3"):
        estimator.fit_samples(samples.x_0, samples.x_1[:, :2])
    estimator.fit(samples.X, samples.y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        estimator.log_ratio(samples.x_0[:, :2])
    with pytest.raises(ValueError, match="`y` must hold the labels 0"):
        estimator.score(samples.X, samples.y + 1)
    with pytest.raises(ValueError, match="`weight_0` must be finite and non-negative"):
        estimator.fit_samples(samples.x_0, samples.x_1, weight_0=-np.ones(len(samples.x_0)))


def test_fit_is_fit_samples(estimator, samples):
    one = estimator.fit(samples.X, samples.y).log_ratio(samples.X)
    two = estimator.fit_samples(samples.x_0, samples.x_1).log_ratio(samples.X)
    np.testing.assert_array_equal(one, two)


@pytest.mark.filterwarnings("ignore::secant.OverlapWarning", "ignore::secant.ClippedRatioWarning")
@pytest.mark.parametrize("selection", [None, 3])
def test_all_weight_on_one_row(samples, selection):
    weight_1 = np.zeros(len(samples.x_1))
    weight_1[7] = 1.0
    for found in (KernelRatio(selection=selection, random_state=0), SklearnRatio(random_state=0)):
        found.fit_samples(samples.x_0, samples.x_1, weight_1=weight_1)
        log_ratio = found.log_ratio(samples.X)
        assert np.isfinite(log_ratio).all()
        assert np.isfinite(found.diagnostics_.held_out_loss)
        assert found.log_ratio(samples.x_1[7:8]) > np.median(log_ratio)
