"""Signed weights: the ratio of densities whose samples have negative weights."""

import numpy as np
import pytest
from scipy.stats import norm

import secant
from secant import BootstrapRatio, KernelRatio, SignedRatio, SklearnRatio

LINEAR = SklearnRatio(folds=None)
N = 20_000
AT = np.linspace(-1.5, 2.0, 15)[:, None]


def log_odds(x):
    """Of a positive weight at x."""
    return 2.0 + 0.6 * x


def mean_sign(x):
    return np.tanh(0.5 * log_odds(x))


def signed(mean, seed):
    """Rows from N(mean, 1), with weights of size 2 whose sign depends on the row."""
    rng = np.random.default_rng(seed)
    x = rng.normal(mean, 1.0, (N, 1))
    positive = rng.uniform(size=N) < 0.5 + 0.5 * mean_sign(x[:, 0])
    return x, np.where(positive, 2.0, -2.0)


def log_density(x, mean):
    """Of the signed sample: N(mean, 1) times the mean sign, normalised."""
    at = np.linspace(-12.0, 12.0, 20_001)
    total = np.trapezoid(norm.pdf(at, mean) * mean_sign(at), at)
    return norm.logpdf(x, mean) + np.log(mean_sign(x)) - np.log(total)


@pytest.fixture(scope="module")
def samples():
    plain = np.random.default_rng(2).normal(0.0, 1.0, (N, 1))
    return plain, *signed(0.5, 3)


def test_the_ratio_is_that_of_the_signed_density(samples):
    x_0, x_1, weights = samples
    found = SignedRatio(LINEAR, random_state=0).fit_samples(x_0, x_1, weight_1=weights)
    truth = log_density(AT[:, 0], 0.5) - norm.logpdf(AT[:, 0])
    assert np.abs(found.log_ratio(AT) - truth).max() < 0.15
    assert np.abs(found.estimator_.log_ratio(AT) - truth).max() > 0.3  # of absolute weights


def test_signs_in_the_denominator_count_the_other_way(samples):
    x_0, x_1, weights = samples
    same = {"random_state": 0}
    one = SignedRatio(LINEAR, **same).fit_samples(x_0, x_1, weight_1=weights)
    other = SignedRatio(LINEAR, **same).fit_samples(x_1, x_0, weight_0=weights)
    assert one.log_ratio(AT) == pytest.approx(-other.log_ratio(AT), abs=0.02)


def test_signed_means_are_carried_over(samples):
    """(W2): rows of p_0 weighted by the ratio have the signed means of p_1."""
    x_0, x_1, weights = samples
    found = SignedRatio(LINEAR, random_state=0).fit_samples(x_0, x_1, weight_1=weights)
    ratio = np.exp(found.log_ratio(x_0))
    for values in (lambda x: x, lambda x: (x > 0.5).astype(float)):
        expected = np.average(values(x_1[:, 0]), weights=weights)
        error = np.std(weights * values(x_1[:, 0])) / weights.mean() / N**0.5
        error += np.std(ratio * values(x_0[:, 0])) / N**0.5
        assert np.average(values(x_0[:, 0]), weights=ratio) == pytest.approx(
            expected, abs=4.5 * error
        )


def test_without_negative_weights_it_is_the_estimator(samples):
    x_0, x_1, weights = samples
    plain = SklearnRatio(folds=None).fit_samples(x_0, x_1, weight_1=np.abs(weights))
    found = SignedRatio(LINEAR, random_state=0).fit_samples(x_0, x_1, weight_1=np.abs(weights))
    assert found.signs_ == (None, None)
    assert found.log_ratio(AT) == pytest.approx(plain.log_ratio(AT))


def test_labels_and_weights_in_one_array(samples):
    x_0, x_1, weights = samples
    rows, labels = np.concatenate([x_0, x_1]), np.repeat([0, 1], N)
    all_weights = np.concatenate([np.ones(N), weights])
    found = SignedRatio(LINEAR, random_state=0).fit(rows, labels, sample_weight=all_weights)
    apart = SignedRatio(LINEAR, random_state=0).fit_samples(x_0, x_1, weight_1=weights)
    assert found.log_ratio(AT) == pytest.approx(apart.log_ratio(AT))
    assert found.class_prior_ == pytest.approx(weights.sum() / all_weights.sum())


def test_where_weights_cancel_the_ratio_has_a_floor():
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(2000, 1)), rng.normal(size=(2000, 1))
    weights = np.where((x_1[:, 0] < 0.0) & (rng.uniform(size=2000) < 0.6), -1.0, 1.0)
    ratio = SignedRatio(KernelRatio(n_centers=30), least_share=0.05, random_state=0)
    found = ratio.fit_samples(x_0, x_1, weight_1=weights).log_ratio(np.array([[-1.0]]))
    # log 0.05 relative to the mean sign of the sample, and a ratio of absolute weights near 1
    assert found[0] == pytest.approx(np.log(0.05 / weights.mean()), abs=0.5)


def test_other_estimators_refuse_negative_weights_and_name_the_remedy(samples):
    x_0, x_1, weights = samples
    for estimator in (SklearnRatio(), KernelRatio(), BootstrapRatio(LINEAR)):
        with pytest.raises(ValueError, match=r"non-negative; got -2\.0 .* take SignedRatio"):
            estimator.fit_samples(x_0, x_1, weight_1=weights)


def test_weights_that_cancel_altogether_are_refused(samples):
    x_0, x_1, weights = samples
    with pytest.raises(ValueError, match="must have a positive sum"):
        SignedRatio(LINEAR).fit_samples(x_0, x_1, weight_1=-weights)
    rows, labels = np.concatenate([x_0, x_1]), np.repeat([0, 1], N)
    with pytest.raises(ValueError, match="positive somewhere in both classes"):
        SignedRatio(LINEAR).fit(rows, labels, sample_weight=np.where(labels, -1.0, 2.0))


def test_infinite_weights_are_refused(samples):
    x_0, x_1, weights = samples
    with pytest.raises(ValueError, match="must be finite; got inf"):
        SignedRatio(LINEAR).fit_samples(x_0, x_1, weight_1=np.where(weights < 0, np.inf, 1.0))


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_the_least_share_is_between_0_and_1(share, samples):
    with pytest.raises(ValueError, match="`least_share` must lie between 0 and 1"):
        secant.SignedRatio(LINEAR, least_share=share).fit_samples(*samples[:2])


def test_an_estimator_is_needed(samples):
    with pytest.raises(TypeError, match="must be a RatioEstimator"):
        SignedRatio(3).fit_samples(*samples[:2])
