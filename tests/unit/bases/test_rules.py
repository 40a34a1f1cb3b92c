"""Fitted bases are densities in the units of the rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from secant.bases import Copula, FullGaussian, Given, Growth, Mixture, StandardNormal

RULES = {
    "normal": StandardNormal(),
    "gaussian": FullGaussian(),
    "wide-gaussian": FullGaussian(widening=1.5),
    "mixture": Mixture(Growth(max_components=8)),
    "copula": Copula(),
    "copula-mixture": Copula(Mixture(Growth(max_components=8))),
}


def rows(n=8000):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, 2))
    bent = np.stack([np.exp(z[:, 0]), z[:, 0] ** 2 + 0.5 * z[:, 1]], axis=1)
    return bent * [1.0, 10.0]


@pytest.mark.parametrize("name", RULES)
def test_a_base_has_mass_one_in_the_units_of_the_rows(name):
    base = RULES[name].fitted(rows(), 0)
    # Rows of a wide normal distribution, weighted: ∫ p_0 = E_q[p_0/q].
    rng = np.random.default_rng(1)
    chart = FullGaussian().fitted(rows(), 0).chart
    y = 3.0 * rng.normal(size=(400_000, 2))
    log_q = stats.norm.logpdf(y, scale=3.0).sum(axis=1)
    x = chart.inverse(y)
    weight = np.exp(base.log_prob(x) - chart.log_volume(x) - log_q)
    error = weight.std() / np.sqrt(weight.size)
    assert error < 0.02
    assert weight.mean() == pytest.approx(1.0, abs=4.5 * error)


def test_each_richer_base_is_nearer_to_the_rows():
    fresh = np.random.default_rng(7).permutation(rows(16_000)[8000:])
    score = {name: rule.fitted(rows(), 0).log_prob(fresh).mean() for name, rule in RULES.items()}
    assert score["normal"] < score["gaussian"] < score["copula"] < score["copula-mixture"]
    assert score["gaussian"] < score["mixture"]


def test_the_gaussian_base_is_scipys():
    x = rows()
    base = FullGaussian().fitted(x, 0)
    expected = stats.multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False)).logpdf(x[:50])
    np.testing.assert_allclose(base.log_prob(x[:50]), expected, atol=0.01)


def test_a_widened_base_is_scipys():
    x = rows()
    base = FullGaussian(widening=1.5).fitted(x, 0)
    wide = stats.multivariate_normal(x.mean(axis=0), 1.5**2 * np.cov(x, rowvar=False))
    np.testing.assert_allclose(base.log_prob(x[:50]), wide.logpdf(x[:50]), atol=0.01)
    np.testing.assert_allclose(base.chart.inverse(base.chart(x[:50])), x[:50], rtol=1e-6)


def test_a_widening_is_positive():
    with pytest.raises(ValueError, match="widening > 0; got 0"):
        FullGaussian(widening=0.0)


class Exponential:
    """Two independent exponential variables, as a user would write them."""

    def sample(self, key, n):
        return jax.random.exponential(key, (n, 2))

    def log_prob(self, x):
        return jnp.where(x.min(axis=1) > 0.0, -x.sum(axis=1), -jnp.inf)


def test_a_given_density_is_used_as_it_is():
    x = np.random.default_rng(0).exponential(size=(5000, 2))
    base = Given(Exponential()).fitted(x, 0)
    np.testing.assert_allclose(base.log_prob(x[:50]), -x[:50].sum(axis=1), rtol=1e-3, atol=1e-3)
    drawn = base.chart.inverse(base.sample(jax.random.key(0), 20_000))
    assert np.abs(drawn.mean(axis=0) - 1.0).max() < 4.5 / np.sqrt(20_000)


def test_sampling_more_rows_than_a_block():
    base = FullGaussian().fitted(rows(), 0)
    drawn = base.sample(jax.random.key(0), 40_001)
    assert drawn.shape == (40_001, 2)
    assert np.unique(drawn, axis=0).shape[0] == 40_001  # no block repeats another
