"""The tangent network: its secants are integrals of its time score (E1)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from scipy.integrate import quad_vec
from tests.laws.registry import randomised

from secant.models import ResidualMLP, TangentNetwork

pytestmark = pytest.mark.usefixtures("float64")

N, D = 3, 2
X = np.random.default_rng(0).standard_normal((N, D))


def built(**settings):
    return randomised(TangentNetwork(ResidualMLP(5, 1), **settings), D)


def test_secant_is_the_mean_of_the_time_score():
    model = built()
    score = jax.jit(lambda t: model.time_score(X, jnp.full(N, t)))
    integral, _ = quad_vec(lambda t: np.asarray(score(t)), 0.2, 0.9, epsabs=1e-12)
    secant = filter_jit(model.secant)(X, np.full(N, 0.2), np.full(N, 0.9))
    np.testing.assert_allclose(secant, integral / 0.7, rtol=1e-9, atol=1e-9)  # of 16 Gauss nodes


def test_one_node_is_the_midpoint():
    model, x = built(n_nodes=1), X
    secant = filter_jit(model.secant)(x, np.full(N, 0.2), np.full(N, 0.8))
    np.testing.assert_allclose(secant, filter_jit(model.time_score)(x, np.full(N, 0.5)), rtol=1e-12)


@pytest.mark.parametrize(("vectorised", "n_parts"), [(False, 1), (True, D)])
def test_vectorised_model_has_a_part_a_coordinate(vectorised, n_parts):
    model, x, t = built(vectorised=vectorised, n_nodes=2), X, np.full(N, 0.4)
    parts = filter_jit(model.parts)(x, t, t)
    assert parts.shape == (N, n_parts)
    score = filter_jit(model.time_score)(x, t)
    np.testing.assert_allclose(np.sum(parts, axis=1), score, rtol=1e-12)


@pytest.mark.parametrize("n_nodes", [1, 5])
def test_a_secant_costs_its_nodes(n_nodes):
    assert built(n_nodes=n_nodes).secant_evaluations == n_nodes


@pytest.mark.parametrize(("frequencies", "nodes"), [(-1, 4), (2, 0)])
def test_bad_settings_are_named(frequencies, nodes):
    with pytest.raises(ValueError, match=f"n_nodes >= 1; got {frequencies}, {nodes}"):
        TangentNetwork(n_frequencies=frequencies, n_nodes=nodes)
