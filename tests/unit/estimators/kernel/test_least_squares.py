"""Least squares against dense solves, brute-force refits and the papers' own closed forms."""

import numpy as np
import pytest

from secant.estimators.kernel.least_squares import LeastSquares
from secant.estimators.kernel.linear_model import (
    FeatureRows,
    GaussianBasis,
    Rows,
    featured,
    median_distance,
    squared_distances,
)

N_0, N_1, D = 12, 9, 2
RIDGE = np.array([0.03])


def weighted(rng, n):
    weights = rng.uniform(0.2, 2.0, n)
    return weights / weights.sum()


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(N_0, D)), 0.5 + rng.normal(size=(N_1, D))])
    share_0 = np.concatenate([weighted(rng, N_0), np.zeros(N_1)])
    share_1 = np.concatenate([np.zeros(N_0), weighted(rng, N_1)])
    return Rows(x, share_0, share_1)


@pytest.fixture
def basis(rows):
    return GaussianBasis(rows.x[N_0:][:5], 0.8)


def objective(theta, rows, basis, alpha, ridge, anchor=0.0):
    """(D1) with the denominator of (D2), term by term."""
    ratio = basis(rows.x) @ theta
    squares = (1 - alpha) * rows.share_0 @ ratio**2 + alpha * rows.share_1 @ ratio**2
    return 0.5 * squares - rows.share_1 @ ratio + 0.5 * ridge * np.sum((theta - anchor) ** 2)


def gradient(f, theta, step=1e-5):
    eye = step * np.eye(theta.size)
    return np.array([(f(theta + e) - f(theta - e)) / (2 * step) for e in eye])


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5])
def test_coefficients_minimise_the_penalised_loss(rows, basis, alpha):
    block = featured(rows, basis(rows.x), alpha)
    theta = LeastSquares().coefficients(block.blocks, RIDGE)[:, 0]
    slope = gradient(lambda t: objective(t, rows, basis, alpha, RIDGE[0]), theta)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)  # a quadratic: differences are exact


def test_each_iteration_is_anchored_at_the_last(rows, basis):
    block = featured(rows, basis(rows.x), 0.0)
    before, after = (
        LeastSquares(iterations=m).coefficients(block.blocks, RIDGE)[:, 0] for m in (3, 4)
    )
    slope = gradient(lambda t: objective(t, rows, basis, 0.0, RIDGE[0], anchor=before), after)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)
    assert np.abs(after - before).max() > 0.01


def test_many_iterations_forget_the_ridge(rows, basis):
    block = featured(rows, basis(rows.x), 0.0)
    theta = LeastSquares(iterations=100_000).coefficients(block.blocks, RIDGE)[:, 0]
    h = block.features.T @ (block.features * block.denominator[:, None])
    np.testing.assert_allclose(h @ theta, block.numerator @ block.features, atol=1e-8)


def left_out_by_refit(block, i, ridge, solver):
    """Drop row i, rescale the other weights to sum to 1, and the ridge with them (D9)."""
    kept = np.arange(block.numerator.size) != i
    grown = ridge / (1.0 - block.denominator[i])
    theta = solver.coefficients(block.kept(kept).blocks, np.array([grown]))[:, 0]
    return block.features[i] @ theta


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("iterations", [1, 3])
def test_leave_one_out_is_a_refit_without_the_row(rows, basis, alpha, iterations):
    solver = LeastSquares(iterations)
    block = featured(rows, basis(rows.x), alpha)
    ridges = np.array([1e-3, 0.1])
    found = solver.left_out(block, ridges)
    for k, ridge in enumerate(ridges):
        brute = [left_out_by_refit(block, i, ridge, solver) for i in range(N_0 + N_1)]
        np.testing.assert_allclose(found[:, k], brute, rtol=1e-9)


def test_folds_are_refits_without_the_fold(rows, basis):
    block = featured(rows, basis(rows.x), 0.2)
    folds = np.arange(N_0 + N_1) % 3
    found = LeastSquares().out_of_fold(block, RIDGE, folds)
    kept = folds != 1
    u, v, phi = block.numerator[kept], block.denominator[kept], block.features[kept]
    h = phi.T @ np.diag(v / v.sum()) @ phi
    theta = np.linalg.solve(h + RIDGE * np.eye(5), phi.T @ u / u.sum())
    np.testing.assert_allclose(found[~kept, 0], block.features[~kept] @ theta, rtol=1e-10)


def test_negative_coefficients_are_cut(rows, basis):
    block = featured(rows, basis(rows.x), 0.0)
    ridge = np.array([1e-6])
    plain = LeastSquares().coefficients(block.blocks, ridge)
    cut = LeastSquares(nonnegative=True).coefficients(block.blocks, ridge)
    assert plain.min() < 0.0
    np.testing.assert_array_equal(cut, np.maximum(plain, 0.0))


def test_blocks_add_up(rows, basis):
    block = featured(rows, basis(rows.x), 0.1)

    def halves():
        for part in (slice(0, 10), slice(10, None)):
            yield FeatureRows(block.features[part], block.numerator[part], block.denominator[part])

    whole = LeastSquares().coefficients(block.blocks, RIDGE)
    np.testing.assert_allclose(LeastSquares().coefficients(halves, RIDGE), whole, rtol=1e-10)


def test_hilbert_space_form_is_the_closed_form_of_the_paper(rows):
    x_0, x_1, ridge, sigma = rows.x[:N_0], rows.x[N_0:], RIDGE[0], 0.8
    share_0 = np.repeat([1.0 / N_0, 0.0], [N_0, N_1])
    equal = Rows(rows.x, share_0, np.repeat([0.0, 1.0 / N_1], [N_0, N_1]))
    basis = GaussianBasis(rows.x, sigma).orthonormal()
    block = featured(equal, basis(rows.x), 0.0)
    theta = LeastSquares().coefficients(block.blocks, RIDGE)[:, 0]

    def kernel(a, b):
        return np.exp(-np.sum((a[:, None] - b[None]) ** 2, axis=2) / (2 * sigma**2))

    right = -kernel(x_0, x_1).sum(axis=1) / (ridge * N_0 * N_1)
    a = np.linalg.solve(kernel(x_0, x_0) / N_0 + ridge * np.eye(N_0), right)
    at = np.random.default_rng(1).normal(size=(20, D))
    expected = kernel(at, x_1).sum(axis=1) / (ridge * N_1) + kernel(at, x_0) @ a
    np.testing.assert_allclose(basis(at) @ theta, expected, rtol=1e-6, atol=1e-8)


def test_orthonormal_features_have_the_hilbert_norm(basis):
    kernel = basis(basis.centers)
    mixing = basis.orthonormal().mixing
    np.testing.assert_allclose(mixing.T @ kernel @ mixing, np.eye(5), atol=1e-10)


def test_criterion_is_lowest_at_the_true_log_ratio():
    # On two points with p_0 = (½, ½), p_1 = (¼, ¾): the candidates are the truth times a factor.
    truth = np.log([0.5, 1.5])
    candidates = np.stack([factor * truth for factor in (0.5, 1.0, 1.5, -1.0)], axis=1)
    losses = LeastSquares().criterion(candidates, np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    assert np.argmin(losses) == 1


def test_median_distance():
    squared = squared_distances(np.array([[0.0], [1.0], [5.0]]), np.array([[0.0]]))
    assert median_distance(squared) == pytest.approx(np.sqrt((1 + 25) / 2))
    assert median_distance(np.zeros((3, 2))) == 1.0
