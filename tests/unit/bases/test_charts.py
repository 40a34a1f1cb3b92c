"""Charts are one to one, and their volumes keep densities normalised."""

import numpy as np
import pytest
from scipy import stats

from secant.bases import Affine, Chain, NormalMargins


def skewed(n=5000):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.2], [0.0, 0.0, 1.0]])
    return np.stack([np.exp(z[:, 0]), 1e6 + 50 * z[:, 1], z[:, 2] ** 3], axis=1)


CHARTS = {
    "standardising": Affine.standardising,
    "whitening": Affine.whitening,
    "margins": lambda x: NormalMargins.fitted(x, 64),
    "both": lambda x: Chain(m := NormalMargins.fitted(x, 64), Affine.whitening(m(x))),
}


@pytest.fixture(params=CHARTS)
def chart(request):
    return CHARTS[request.param](skewed())


def test_the_inverse_undoes_a_chart(chart):
    x = skewed(200)
    np.testing.assert_allclose(chart.inverse(chart(x)), x, rtol=1e-9, atol=1e-9)


def test_the_volume_is_the_determinant_of_the_derivative(chart):
    x = skewed(20) + 1e-7
    steps = 1e-5 * np.abs(x).mean(axis=0) * np.array([1.0, 1e-5, 1.0])
    for row, log_volume in zip(x, chart.log_volume(x), strict=True):
        near = row + np.diag(steps)
        far = row - np.diag(steps)
        jacobian = (chart(near) - chart(far)) / (2.0 * steps[:, None])
        assert log_volume == pytest.approx(np.linalg.slogdet(jacobian)[1], abs=2e-3)


def test_whitened_rows_have_unit_covariance():
    y = Affine.whitening(skewed())(skewed())
    np.testing.assert_allclose(np.cov(y, rowvar=False), np.eye(3), atol=0.01)


def test_a_constant_column_is_no_division_by_zero():
    x = skewed()
    x[:, 1] = 7.0
    for build in CHARTS.values():
        chart = build(x)
        assert np.isfinite(chart(x)).all()
        assert np.isfinite(chart.log_volume(x)).all()


def test_margins_become_normal():
    x = skewed(20_000)
    y = NormalMargins.fitted(x, 256)(x)
    for column in y.T:  # 1 % point of the statistic for 20,000 rows
        assert stats.kstest(column, "norm").statistic < 1.63 / np.sqrt(column.size)


def test_a_margins_density_is_that_of_the_column():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(-2, 0.3, 60_000), rng.normal(1, 1, 40_000)])[:, None]
    chart = NormalMargins.fitted(x, 128)
    at = np.linspace(-4, 5, 20_001)[:, None]
    found = np.exp(stats.norm.logpdf(chart(at)[:, 0]) + chart.log_volume(at))
    true = 0.6 * stats.norm.pdf(at[:, 0], -2, 0.3) + 0.4 * stats.norm.pdf(at[:, 0], 1, 1)
    cell = at[1, 0] - at[0, 0]
    assert np.sum(found) * cell == pytest.approx(1.0, abs=2e-3)
    assert 0.5 * np.abs(found - true).sum() * cell < 0.02  # total variation


def test_margins_do_not_find_the_atoms_of_a_column():
    """Whole minutes of a day: the margin is the same between two of them as on them."""
    rng = np.random.default_rng(2)
    share = 2.0 + np.sin(np.arange(1440) * 2 * np.pi / 1440)
    minutes = rng.choice(1440, size=(200_000, 1), p=share / share.sum()).astype(float)
    chart = NormalMargins.fitted(minutes, 512)
    inside = minutes[(minutes[:, 0] > 20) & (minutes[:, 0] < 1420)]

    def score(x):
        return stats.norm.logpdf(chart(x)[:, 0]) + chart.log_volume(x)

    gain = score(inside) - score(inside + rng.uniform(-0.5, 0.5, inside.shape))
    assert abs(gain.mean()) < 0.002


def test_few_rows_or_values_are_standardised_only():
    x = np.array([[0.0], [1.0], [1.0], [0.0], [2.0]])
    assert NormalMargins.fitted(x, 64).splines[0].knots.size == 2
