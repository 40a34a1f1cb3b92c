"""How an anchor is chosen, and that a mixture anchor is the exact path of two mixtures."""

import jax
import numpy as np
import pytest
from equinox import filter_jit
from scipy.stats import multivariate_normal

from secant.anchoring import GaussianMixtures, GaussianMoments, resolved_anchor
from secant.models import GaussianAnchor, MixtureAnchor
from secant.paths import DiffusionInterpolant
from secant.samples import Sample, prepared
from secant.scaling import Identity
from secant.training import Training

PATH = DiffusionInterpolant()


def _components(rng: np.random.Generator, n: int, d: int) -> list[tuple[np.ndarray, np.ndarray]]:
    parts = []
    for _ in range(n):
        a = rng.normal(size=(d, d))
        parts.append((2.0 * rng.normal(size=d), a @ a.T + 0.3 * np.eye(d)))
    return parts


def _mixture(zero: list, one: list, weights: np.ndarray) -> MixtureAnchor:
    """The anchor of all pairs of components."""
    pairs = [GaussianAnchor.fitted(*a, *b, PATH) for a in zero for b in one]
    return MixtureAnchor.of(pairs, weights)


def test_mixture_anchor_is_the_density_of_the_interpolated_mixtures():
    with jax.enable_x64(new_val=True):
        rng = np.random.default_rng(0)
        zero, one = _components(rng, 2, 3), _components(rng, 3, 3)
        w, v = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3))
        anchor = _mixture(zero, one, np.outer(w, v).ravel())
        x = 2.0 * rng.normal(size=(50, 3))
        log_density, schedule = filter_jit(anchor.log_density), filter_jit(PATH.schedule)
        for t in (0.0, 0.3, 1.0):
            alpha, beta = (float(c) for c in schedule(np.asarray(t)))
            density = sum(
                w[i]
                * v[j]
                * multivariate_normal(alpha * m + beta * n, alpha**2 * s + beta**2 * r).pdf(x)
                for i, (m, s) in enumerate(zero)
                for j, (n, r) in enumerate(one)
            )
            found = np.asarray(log_density(x, np.full(50, t)))
            # The anchor leaves out (d/2) log 2π; float64 rounding of about 1e-10 remains.
            np.testing.assert_allclose(found - 1.5 * np.log(2 * np.pi), np.log(density), atol=1e-8)


def test_mixture_anchor_secant_is_the_difference_of_log_densities():
    with jax.enable_x64(new_val=True):
        rng = np.random.default_rng(1)
        zero, one = _components(rng, 2, 2), _components(rng, 2, 2)
        anchor = _mixture(zero, one, np.full(4, 0.25))
        log_density, time_score = filter_jit(anchor.log_density), filter_jit(anchor.time_score)
        x, l, t = rng.normal(size=(20, 2)), np.full(20, 0.2), np.full(20, 0.7)
        rise = np.asarray(log_density(x, t)) - np.asarray(log_density(x, l))
        secant = np.asarray(filter_jit(anchor.secant)(x, l, t))
        np.testing.assert_allclose(0.5 * secant, rise, atol=1e-10)
        nodes, weights = np.polynomial.legendre.leggauss(40)
        times = 0.2 + 0.25 * (nodes + 1.0)
        integral = sum(
            0.25 * b * np.asarray(time_score(x, np.full(20, a)))
            for a, b in zip(times, weights, strict=True)
        )
        np.testing.assert_allclose(integral, rise, atol=1e-8)


def data_of(x_0: np.ndarray, x_1: np.ndarray):
    return prepared((Sample(x_0), Sample(x_1)), Identity(), Training(), 0)


def test_one_component_where_the_data_ask_for_no_more():
    rng = np.random.default_rng(2)
    data = data_of(rng.normal(size=(4000, 2)), 0.5 + rng.normal(size=(4000, 2)))
    anchor = GaussianMixtures().fitted(data, PATH, 0)
    moments = GaussianMoments().fitted(data, PATH, 0)
    assert isinstance(anchor, GaussianAnchor)
    np.testing.assert_array_equal(anchor.mean_1, moments.mean_1)


def test_more_components_where_a_sample_has_modes():
    rng = np.random.default_rng(3)
    modes = np.array([[-4.0, 0.0], [4.0, 0.0]])[rng.integers(0, 2, 4000)]
    data = data_of(rng.normal(size=(4000, 2)), modes + rng.normal(size=(4000, 2)))
    anchor = GaussianMixtures().fitted(data, PATH, 0)
    assert isinstance(anchor, MixtureAnchor)
    np.testing.assert_allclose(np.exp(anchor.log_weights).sum(), 1.0, rtol=1e-5)


def test_the_cost_of_a_row_bounds_the_components():
    rng = np.random.default_rng(4)
    modes = np.array([[-4.0, 0.0], [4.0, 0.0]])[rng.integers(0, 2, 2000)]
    data = data_of(modes + rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2)))
    assert isinstance(GaussianMixtures(max_products=4).fitted(data, PATH, 0), GaussianAnchor)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(False, type(None)), (True, GaussianMixtures), (GaussianMoments(), GaussianMoments)],
)
def test_the_anchor_parameter_resolves_to_a_rule(given, expected):
    assert isinstance(resolved_anchor(given), expected)
