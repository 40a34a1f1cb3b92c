"""Kernel logistic regression (H1) and the balanced ridge (H2) against other solvers and refits."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from secant.estimators.kernel.least_squares import LeastSquares
from secant.estimators.kernel.linear_model import FeatureRows, GaussianBasis
from secant.estimators.kernel.logistic import KernelLogistic
from secant.estimators.kernel.selection import balanced_ridge

RIDGES = np.array([1e-3, 0.1])


def drawn(n=40, seed=0, shift=0.8, sigma=1.0):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=(n, 1)), shift + rng.normal(size=(n, 1))])
    shares = np.repeat([0.0, 1.0 / n], n), np.repeat([1.0 / n, 0.0], n)
    basis = GaussianBasis(x[:: n // 4], sigma).orthonormal()
    return FeatureRows(basis(x), *shares)


def objective(rows, theta, ridge, center=0.0):
    f = rows.features @ theta
    loss = rows.denominator @ np.logaddexp(0, f) + rows.numerator @ np.logaddexp(0, -f)
    return loss + 0.5 * ridge * np.sum((theta - center) ** 2)


def gradient(f, theta, step=1e-5):
    eye = step * np.eye(theta.size)
    return np.array([(f(theta + e) - f(theta - e)) / (2 * step) for e in eye])


def test_one_round_is_scikit_learns_logistic_regression():
    rows = drawn()
    found = KernelLogistic(tolerance=1e-14).coefficients(rows.blocks, RIDGES)
    labels, weights = rows.numerator > 0.0, rows.numerator + rows.denominator
    for k, ridge in enumerate(RIDGES):
        other = LogisticRegression(C=1.0 / ridge, fit_intercept=False, tol=1e-10, max_iter=10_000)
        other.fit(rows.features, labels, sample_weight=weights)
        np.testing.assert_allclose(found[:, k], other.coef_[0], rtol=1e-4, atol=1e-6)


def test_each_round_is_anchored_at_the_last():
    rows = drawn()
    before, after = (
        KernelLogistic(m, tolerance=1e-14).coefficients(rows.blocks, RIDGES)[:, 1] for m in (2, 3)
    )
    slope = gradient(lambda t: objective(rows, t, RIDGES[1], before), after)
    np.testing.assert_allclose(slope, 0.0, atol=1e-8)
    assert np.abs(after - before).max() > 0.01


def test_blocks_add_up():
    rows = drawn()

    def halves():
        for part in (slice(0, 25), slice(25, None)):
            yield FeatureRows(rows.features[part], rows.numerator[part], rows.denominator[part])

    whole = KernelLogistic().coefficients(rows.blocks, RIDGES)
    np.testing.assert_allclose(KernelLogistic().coefficients(halves, RIDGES), whole, rtol=1e-8)


def test_leave_one_out_is_one_newton_step_without_the_row():
    rows, ridge, solver = drawn(), 1e-2, KernelLogistic(tolerance=1e-16)
    found = solver.left_out(rows, np.array([ridge]))[:, 0]
    theta = solver.coefficients(rows.blocks, np.array([ridge]))[:, 0]
    stepped, refits = [], []
    for i in range(found.size):
        weights = [np.where(np.arange(80) == i, 0.0, w) for w in (rows.numerator, rows.denominator)]
        without = FeatureRows(rows.features, *weights)
        f = rows.features @ theta
        slope = (weights[1] * expit(f) - weights[0] * expit(-f)) @ rows.features + ridge * theta
        h = (weights[0] + weights[1]) * expit(f) * expit(-f)
        curvature = rows.features.T @ np.diag(h) @ rows.features + ridge * np.eye(theta.size)
        stepped.append(rows.features[i] @ (theta - np.linalg.solve(curvature, slope)))
        refit = solver.coefficients(without.blocks, np.array([ridge]))[:, 0]
        refits.append(rows.features[i] @ refit)
    np.testing.assert_allclose(found, stepped, rtol=1e-6)
    moved = np.abs(np.array(refits) - f)
    assert np.median(np.abs(found - refits)) < 0.05 * np.median(moved)


@pytest.mark.parametrize("solver", [LeastSquares(), KernelLogistic()])
def test_local_is_the_derivative_of_each_rows_loss(solver):
    rows, f, step = drawn(), np.linspace(-2.0, 2.0, 80), 1e-5

    def loss(f):
        if isinstance(solver, LeastSquares):
            return 0.5 * rows.denominator * f**2 - rows.numerator * f
        return rows.denominator * np.logaddexp(0, f) + rows.numerator * np.logaddexp(0, -f)

    score, weight = solver.local(rows, f)
    up, at, down = loss(f + step), loss(f), loss(f - step)
    np.testing.assert_allclose(score, -(up - down) / (2 * step), atol=1e-9)
    np.testing.assert_allclose(weight, (up - 2 * at + down) / step**2, atol=1e-6)


@pytest.mark.parametrize("solver", [LeastSquares(), KernelLogistic()])
def test_the_balanced_ridge_falls_as_rows_are_added(solver):
    # (H2): with more rows the noise is lower, and the bias of a large ridge is detected earlier.
    ridges = 10.0 ** np.arange(-6.0, 1.0)

    def place(n):
        draws = (drawn(n, seed, shift=1.5) for seed in range(5))
        return np.mean([balanced_ridge(solver, rows, ridges) for rows in draws])

    assert place(4000) < place(100) - 0.5  # decades


def test_the_balanced_ridge_is_the_largest_within_the_noise_of_all_softer_ones():
    rows, ridges, solver = drawn(400, shift=1.5), 10.0 ** np.arange(-5.0, 1.0), LeastSquares()
    h = rows.features.T @ (rows.features * rows.denominator[:, None])
    eye = np.eye(h.shape[0])
    theta = [np.linalg.solve(h + r * eye, rows.numerator @ rows.features) for r in ridges]

    def is_within(i, j):
        score = rows.numerator - rows.denominator * (rows.features @ theta[j])
        influence = rows.features * score[:, None]
        noise = np.trace(np.linalg.solve(h + ridges[j] * eye, influence.T @ influence))
        gap = theta[i] - theta[j]
        return gap @ (h + ridges[j] * eye) @ gap <= 4.0 * noise

    kept = [i for i in range(6) if all(is_within(i, j) for j in range(i))]
    first_gone = next((i for i in range(6) if i not in kept), 6)
    assert 0 < first_gone < 6  # so that there is something to choose
    assert balanced_ridge(solver, rows, ridges) == first_gone - 1
    shuffled = np.array([3, 0, 5, 1, 4, 2])
    assert shuffled[balanced_ridge(solver, rows, ridges[shuffled])] == first_gone - 1


def test_filters_act_on_the_spectrum_alone():
    # (H3), by the eigenvalues of H: 1/e or nothing; and the gradient flow, integrated in steps.
    rows, ridge = drawn(), np.array([0.02])
    h = rows.features.T @ (rows.features * rows.denominator[:, None])
    target = rows.numerator @ rows.features
    values, vectors = np.linalg.eigh(h)
    kept = vectors[:, values >= ridge[0]]
    assert 0 < kept.shape[1] < values.size
    inverse = kept @ np.diag(1.0 / values[values >= ridge[0]]) @ kept.T
    found = LeastSquares(scheme="cut-off").coefficients(rows.blocks, ridge)[:, 0]
    np.testing.assert_allclose(found, inverse @ target, rtol=1e-9, atol=1e-12)

    theta, step = np.zeros_like(target), 1e-3
    for _ in range(round(1.0 / ridge[0] / step)):
        middle = theta + 0.5 * step * (target - h @ theta)
        theta = theta + step * (target - h @ middle)
    found = LeastSquares(scheme="flow").coefficients(rows.blocks, ridge)[:, 0]
    np.testing.assert_allclose(found, theta, rtol=1e-5)


def test_a_ratio_in_the_hilbert_space_is_found_by_its_logarithm():
    # 50,000 exact weights on a grid instead of rows: what is left is the bias of a tiny ridge.
    x = np.linspace(-6.0, 7.0, 50_001)[:, None]
    basis = GaussianBasis(np.linspace(-2.0, 3.0, 6)[:, None], 1.5).orthonormal()
    truth = basis(x) @ np.array([0.5, -0.4, 0.3, 0.2, 0.1, -0.2])[: basis.mixing.shape[1]]
    p_0 = np.exp(-0.5 * x[:, 0] ** 2) * expit(-truth) / expit(-truth).max()
    rows = FeatureRows(basis(x), p_0 * np.exp(truth), p_0)
    theta = KernelLogistic(tolerance=1e-16).coefficients(rows.blocks, np.array([1e-9]))[:, 0]
    near = np.abs(x[:, 0]) < 3.0
    np.testing.assert_allclose((basis(x) @ theta)[near], truth[near], atol=1e-4)
