"""Mixtures grown by splitting (N2)."""

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from secant.bases import Growth
from secant.bases.mixture_fit import _Moments, grown_mixture


def clusters(n, rng):
    centers = np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 4.0], [0.0, -4.0]])
    return (centers[rng.integers(4, size=n)] + rng.normal(0, 0.5, (n, 2))).astype(np.float32)


def test_splitting_keeps_mean_and_covariance():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 4, 4))
    whole = _Moments(np.array([0.2, 0.3, 0.5]), rng.normal(size=(3, 4)), root @ root.swapaxes(1, 2))
    halves = whole.split()

    def moments(m):
        second = m.covariances + m.means[:, :, None] * m.means[:, None, :]
        return m.weights @ m.means, np.einsum("k,kij->ij", m.weights, second)

    for found, expected in zip(moments(halves), moments(whole), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert np.linalg.eigvalsh(halves.covariances).min() > 0.0


@pytest.mark.parametrize("batch_size", [20_000, 500])
def test_it_is_as_likely_as_scikit_learns(batch_size):
    rng = np.random.default_rng(0)
    x, held, fresh = (clusters(n, rng) for n in (4000, 500, 4000))
    mixture = grown_mixture(x, held, Growth(max_components=4, batch_size=batch_size), rng)
    peer = GaussianMixture(4, n_init=3, random_state=0).fit(x)
    assert mixture.log_weights.size == 4
    assert float(jnp.mean(mixture.log_prob(jnp.asarray(fresh)))) > peer.score(fresh) - 0.01


def test_it_stops_growing_where_held_out_rows_gain_nothing():
    rng = np.random.default_rng(0)
    x, held = (rng.normal(size=(n, 3)).astype(np.float32) for n in (3000, 3000))
    assert grown_mixture(x, held, Growth(), rng).log_weights.size == 1
