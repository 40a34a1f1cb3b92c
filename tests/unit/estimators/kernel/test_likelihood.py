"""KLIEP: its optimality conditions, its normalisation, and a solution found another way."""

import numpy as np
import pytest
from scipy.optimize import minimize

from secant.estimators.kernel.likelihood import Likelihood
from secant.estimators.kernel.linear_model import FeatureRows, GaussianBasis

RIDGES = np.zeros(1)


def drawn(n_0, n_1, n_centers, sigma=0.6, seed=0):
    rng = np.random.default_rng(seed)
    x_0, x_1 = rng.normal(size=(n_0, 1)), 0.7 + 0.8 * rng.normal(size=(n_1, 1))
    features = GaussianBasis(x_1[:n_centers], sigma)(np.concatenate([x_0, x_1]))
    u, v = np.zeros(n_0 + n_1), np.zeros(n_0 + n_1)
    u[n_0:], v[:n_0] = rng.uniform(0.5, 1.5, n_1), rng.uniform(0.5, 1.5, n_0)
    return FeatureRows(features, u / u.sum(), v / v.sum())


@pytest.fixture(params=[(60, 40, 8), (500, 300, 50)], ids=["small", "many centres"])
def block(request):
    return drawn(*request.param)


def test_normalised_and_not_negative(block):
    theta = Likelihood().coefficients(block.blocks, RIDGES)[:, 0]
    assert (theta >= 0.0).all()
    assert block.denominator @ (block.features @ theta) == pytest.approx(1.0, abs=1e-12)


def test_optimality_conditions(block):
    theta = Likelihood(tolerance=1e-9).coefficients(block.blocks, RIDGES)[:, 0]
    mean = block.denominator @ block.features
    # ∂/∂θ_k of E_1[log r] − E_0[r]: 0 where θ_k > 0, not positive elsewhere (D3).
    slope = (block.numerator / (block.features @ theta)) @ block.features / mean - 1.0
    used = theta * mean > 1e-3
    np.testing.assert_allclose(slope[used], 0.0, atol=1e-5)
    assert slope.max() < 1e-8
    assert used.sum() >= 2


def test_no_feasible_direction_is_better():
    block = drawn(60, 40, 5)
    mean = block.denominator @ block.features

    def loss(free):  # proportions by softmax: another solver, without constraints
        share = np.exp(free - free.max())
        return -block.numerator @ np.log(block.features @ (share / share.sum() / mean))

    theta = Likelihood().coefficients(block.blocks, RIDGES)[:, 0]
    other = min(minimize(loss, np.random.default_rng(s).normal(size=5)).fun for s in range(5))
    assert -block.numerator @ np.log(block.features @ theta) == pytest.approx(other, abs=2e-6)


def test_the_bound_on_what_is_missing_holds(block):
    def likelihood(theta):
        return block.numerator @ np.log(block.features @ theta)

    best = Likelihood(tolerance=1e-10).coefficients(block.blocks, RIDGES)[:, 0]
    for tolerance in (1e-1, 1e-3):
        theta = Likelihood(tolerance=tolerance).coefficients(block.blocks, RIDGES)[:, 0]
        assert likelihood(best) - likelihood(theta) <= tolerance


def test_a_row_far_from_every_centre_is_survived():
    block = drawn(60, 40, 5)
    block.features[-1] = 0.0
    theta = Likelihood().coefficients(block.blocks, RIDGES)[:, 0]
    assert np.isfinite(theta).all()
    assert block.denominator @ (block.features @ theta) == pytest.approx(1.0, abs=1e-12)


def test_criterion_is_the_likelihood():
    log_ratio = np.log([[0.5, 1.0], [1.5, 1.0]])
    found = Likelihood().criterion(log_ratio, np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    expected = -(0.25 * np.log(0.5) + 0.75 * np.log(1.5))
    np.testing.assert_allclose(found, [expected, 0.0], atol=1e-15)
