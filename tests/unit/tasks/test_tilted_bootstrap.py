"""The bootstrap behind intervals: log ratios of its pairs, and coverage."""

import numpy as np
import pytest

from secant.tasks import tilted_bootstrap
from secant.tasks.tilted_bootstrap import DIVERGENCES, tilted_intervals

Z = 1.959963984540054


@pytest.fixture
def fit():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 3))
    labels = (rng.uniform(size=150) < 1.0 / (1.0 + np.exp(1.0 - x[:, 0]))).astype(int)
    return tilted_bootstrap._Fit.of(x, labels, 1.0)


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0, 3.0])
def test_the_log_ratio_of_a_tilt_is_that_of_its_weights(fit, scale):
    tilt = tilted_bootstrap._tilted(fit, scale * (fit.features @ fit.coefficients))
    for weight in (tilt.weight_0, tilt.weight_1):
        assert weight.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(np.log(tilt.weight_1 / tilt.weight_0), tilt.log_ratio, atol=1e-9)


def test_divergences_of_a_tilt_are_those_of_two_discrete_distributions(fit):
    tilt = tilted_bootstrap._tilted(fit, fit.features @ fit.coefficients)
    p, q = tilt.weight_1, tilt.weight_0
    middle = 0.5 * (p + q)
    exact = [
        (p * np.log(p / q)).sum(),
        (q * np.log(q / p)).sum(),
        0.5 * (p * np.log(p / middle)).sum() + 0.5 * (q * np.log(q / middle)).sum(),
        0.5 * np.abs(p - q).sum(),
        np.log1p(((p - q) ** 2 / q).sum()),
        np.log1p(((p - q) ** 2 / p).sum()),
    ]
    found = tilted_bootstrap._roots(tilt.log_ratio, p, q)
    np.testing.assert_allclose(found**2, exact, rtol=1e-7, atol=1e-9)


def test_a_refit_is_the_optimum_of_its_rows(fit):
    from sklearn.linear_model import LogisticRegression

    tilt = tilted_bootstrap._tilted(fit, fit.features @ fit.coefficients)
    n_0, n_1 = fit.sizes
    rng = np.random.default_rng(1)
    one, zero = rng.multinomial(n_1, tilt.weight_1), rng.multinomial(n_0, tilt.weight_0)
    found = tilted_bootstrap._refitted(fit, 1.0, tilt, one[None] * 1.0, zero[None] * 1.0)[0]
    rows = np.concatenate([fit.features, fit.features])
    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8)
    model.fit(rows, np.repeat([1, 0], len(fit.features)), sample_weight=[*one, *zero])
    exact = model.decision_function(fit.features) - fit.log_prior
    np.testing.assert_allclose(found, exact, atol=5e-3)


def test_a_normal_estimate_is_inverted_to_its_normal_interval():
    truth = np.linspace(0.0, 2.0, 9)
    looks = np.array([(t, t + 0.1, 0.2) for t in truth])  # a bias of 0.1 and a spread of 0.2
    for level in (0.0, Z, -Z):
        found = tilted_bootstrap._inverted(looks, 1.0, level)
        assert found == pytest.approx(0.9 - 0.2 * level, abs=1e-9)
    # What is usual at 0 has an interval from 0.
    assert tilted_bootstrap._inverted(looks, 0.2, Z) == 0.0


def test_samples_are_drawn_with_the_weights_of_their_pair(fit):
    tilt = tilted_bootstrap._tilted(fit, fit.score)
    draws = tilted_bootstrap._Draws.of(2000, fit.sizes, np.random.RandomState(0))
    for count, weight, n in zip(draws.counts(tilt), tilt[1:], reversed(fit.sizes), strict=True):
        assert (count.sum(axis=1) == n).all()
        error = np.sqrt(n * weight * (1.0 - weight) / len(count))
        # 5 standard errors, of 300 means.
        assert np.abs(count.mean(axis=0) - n * weight).max() < 5.0 * error.max()
        np.testing.assert_allclose(
            count.var(axis=0).mean(), (n * weight * (1 - weight)).mean(), rtol=0.05
        )


def test_upper_ends_are_those_of_the_intervals(fit):
    both = [
        function(fit.features, fit.labels, ridge=1.0, confidence=0.95, rng=np.random.RandomState(0))
        for function in (tilted_intervals, tilted_bootstrap.tilted_upper_ends)
    ]
    for name in DIVERGENCES[:4]:  # χ² doubles with a tenth of its root
        # The smoothed spread is of fewer looks.
        assert both[1][name] == pytest.approx(both[0][name].high, rel=0.1)


def test_intervals_cover_at_a_hundred_rows():
    shift, runs = 0.6, 40
    held, from_zero = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        for delta in (shift, 0.0):
            x = rng.normal(size=(200, 2))
            labels = np.repeat([0, 1], 100)
            x[labels == 1, 0] += delta
            features = (x - x.mean(axis=0)) / x.std(axis=0)
            found = tilted_intervals(
                features, labels, ridge=1.0, confidence=0.95, rng=np.random.RandomState(seed)
            )
            assert set(found) == set(DIVERGENCES)
            low, high = found["kl"].low, found["kl"].high
            held += delta > 0.0 and low < 0.5 * shift**2 < high
            from_zero += delta == 0.0 and low == 0.0
            assert 0.0 <= low <= found["kl"].value <= high
    # 4 standard errors of a rate of 0.95 over 40 runs; of 0.975 for a lower end.
    assert held >= 40 * 0.95 - 4.0 * np.sqrt(40 * 0.95 * 0.05)
    assert from_zero >= 40 * 0.975 - 4.0 * np.sqrt(40 * 0.975 * 0.025)
