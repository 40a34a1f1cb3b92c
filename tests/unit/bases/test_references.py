"""References against SciPy, and their rows against their densities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from secant.bases import GaussianMixtureReference, StandardNormalReference

WEIGHTS = np.array([0.2, 0.5, 0.3])
MEANS = np.array([[0.0, 0.0], [3.0, -1.0], [-2.0, 2.0]])
COVARIANCES = np.array(
    [[[1.0, 0.3], [0.3, 0.5]], [[0.2, 0.0], [0.0, 2.0]], [[1.0, -0.9], [-0.9, 1.0]]]
)


@pytest.fixture
def mixture():
    return GaussianMixtureReference.of(WEIGHTS, MEANS, COVARIANCES)


def test_the_mixture_density_is_scipys(mixture):
    y = np.random.default_rng(0).normal(0, 3, (50, 2)).astype(np.float32)
    parts = zip(WEIGHTS, MEANS, COVARIANCES, strict=True)
    terms = [np.log(w) + stats.multivariate_normal(m, c).logpdf(y) for w, m, c in parts]
    expected = logsumexp(terms, axis=0)
    np.testing.assert_allclose(mixture.log_prob(jnp.asarray(y)), expected, rtol=1e-4, atol=1e-4)


def test_the_mixtures_rows_have_its_moments(mixture):
    n = 40_000
    y = np.asarray(mixture.sample(jax.random.key(0), n), dtype=np.float64)
    mean = WEIGHTS @ MEANS
    second = np.einsum("k,kij->ij", WEIGHTS, COVARIANCES + MEANS[:, :, None] * MEANS[:, None, :])
    covariance = second - np.outer(mean, mean)
    assert np.abs(y.mean(axis=0) - mean).max() < 4.5 * np.sqrt(np.diag(covariance).max() / n)
    products = (y - mean)[:, :, None] * (y - mean)[:, None, :]
    error = products.std(axis=0) / np.sqrt(n)
    assert (np.abs(products.mean(axis=0) - covariance) < 4.5 * error).all()


def test_the_normal_density_is_scipys():
    y = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    expected = stats.norm.logpdf(y).sum(axis=1)
    found = StandardNormalReference(3).log_prob(jnp.asarray(y))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
