"""Feature drift, column by column, against definitions and SciPy."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

from secant.diagnostics import feature_drift, top_drift


def test_columns_of_gaussians():
    rng = np.random.default_rng(0)
    n, shift = 10_000, 0.4
    x_0, x_1 = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    x_1[:, 1] += shift
    same, moved = feature_drift(x_0, x_1, ["a", "b"])
    assert (same.name, moved.name) == ("a", "b")
    # 4.5 standard errors of a difference of means.
    assert moved.mean_shift == pytest.approx(shift, abs=4.5 * np.sqrt(2 / n))
    # The distribution functions differ most in the middle, by 2Φ(δ/2) − 1.
    assert moved.ks_distance == pytest.approx(2 * norm.cdf(shift / 2) - 1, abs=2 / np.sqrt(n))
    assert moved.p_value < 1e-10
    assert same.p_value == pytest.approx(ks_2samp(x_0[:, 0], x_1[:, 0], method="asymp").pvalue)
    assert same.p_value > 1e-3


def test_mean_shift_is_in_pooled_standard_deviations_whatever_the_unit():
    x_0, x_1 = np.array([[0.0], [2.0]]), np.array([[4.0], [10.0]])
    expected = (7.0 - 1.0) / np.sqrt((1.0 + 9.0) / 2.0)
    for unit, offset in ((1.0, 0.0), (1e-9, 0.0), (-1e200, 0.0), (1e-3, 1e6)):
        found = feature_drift(offset + unit * x_0, offset + unit * x_1)[0]
        assert found.mean_shift == pytest.approx(np.sign(unit) * expected, rel=1e-6)


def test_constant_columns():
    x_0, x_1 = np.full((5, 2), 0.1), np.full((4, 2), 0.1)
    x_1[:, 1] = -7.3
    same, apart = feature_drift(x_0, x_1)
    assert (same.name, same.mean_shift, same.ks_distance) == ("column 0", 0.0, 0.0)
    assert (apart.mean_shift, apart.ks_distance) == (-np.inf, 1.0)


def test_many_rows_and_columns_are_thinned_evenly():
    ramp = np.linspace(0.0, 1.0, 300_000)[:, None]
    found = feature_drift(ramp, ramp**2)[0]
    assert found.ks_distance == pytest.approx(0.25, abs=1e-3)  # √u − u at u = ¼
    wide = np.repeat(np.linspace(0.0, 1.0, 6000)[:, None], 120, axis=1)
    assert feature_drift(wide, wide**2)[7].ks_distance == pytest.approx(0.25, abs=2e-3)


def test_the_largest_come_first():
    x = np.random.default_rng(0).normal(size=(500, 3))
    drift = feature_drift(x, x + np.array([0.1, 1.0, -0.5]))
    assert [c.name for c in top_drift(drift, 2)] == ["column 1", "column 2"]
