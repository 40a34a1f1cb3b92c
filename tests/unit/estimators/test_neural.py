"""Gradients of the log ratio and integrated gradients, on models whose own are known."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from secant import AdaptiveMargins, SecantRatio, Standardise
from secant.integration import Adaptive, GaussLegendre, RungeKutta, SecantSteps, Trapezoid
from secant.models.secant_function import SecantFunction

W = np.array([1.5, -0.7, 0.3])
CENTER, SCALE = np.array([3.0, -1.0, 100.0]), np.array([2.0, 0.1, 30.0])


class Form(SecantFunction):
    """log r = w·x + x'Qx, and s(x, t) = log r at every t."""

    w: Float[Array, " d"]
    q: Float[Array, "d d"]

    def parts(self, x, l, t):
        del l, t
        return (x @ self.w + jnp.sum(x * (x @ self.q), axis=1))[:, None]

    def time_score(self, x, t):
        return self.parts(x, t, t)[:, 0]


def ratio(*, curvature=0.0, scaling=None, rule=None):
    """A fitted estimator but for the fit."""
    q = curvature * np.array([[1.0, 0.5, 0.0], [0.5, -1.0, 0.2], [0.0, 0.2, 0.3]])
    found = SecantRatio()
    found.model_ = Form(jnp.asarray(W, dtype=jnp.float32), jnp.asarray(q, dtype=jnp.float32))
    found.rule_ = SecantSteps(1) if rule is None else rule
    rows = [rows_of(3000, seed) for seed in (3, 4)]
    found.scaling_ = (Standardise() if scaling is None else scaling).fitted(*rows)
    found.n_features_in_, found.diagnostics_ = 3, None
    return found


def rows_of(n, seed):
    """Skewed columns with means and scales of their own."""
    return CENTER + SCALE * (np.random.default_rng(seed).exponential(size=(n, 3)) - 1.0)


X, B = rows_of(300, 1), rows_of(300, 2)


def exact(found, rows):
    z = found.scaling_.precise(rows)
    return z @ W + np.sum(z * (z @ np.asarray(found.model_.q)), axis=1)


def test_integrated_gradients_of_a_linear_log_ratio_are_exact():
    found = ratio()
    change = found.scaling_.precise(X) - found.scaling_.precise(B)
    np.testing.assert_allclose(found.integrated_gradients(X, B), W * change, atol=1e-5)


def test_integrated_gradients_of_a_quadratic_are_those_of_the_midpoint():
    found = ratio(curvature=0.4)
    z, b = found.scaling_.precise(X), found.scaling_.precise(B)
    expected = (z - b) * (W + (z + b) @ np.asarray(found.model_.q))
    np.testing.assert_allclose(found.integrated_gradients(X, B), expected, atol=1e-4)


@pytest.mark.parametrize("scaling", [Standardise(), AdaptiveMargins()])
def test_integrated_gradients_are_complete(scaling):
    found = ratio(curvature=0.4, scaling=scaling)
    attributed = found.integrated_gradients(X, B, n_nodes=2).sum(axis=1)
    np.testing.assert_allclose(attributed, found.log_ratio(X) - found.log_ratio(B), atol=1e-4)


def test_one_baseline_serves_all_rows():
    found = ratio(curvature=0.4)
    expected = found.integrated_gradients(X, np.repeat(B[:1], len(X), axis=0))
    for baseline in (B[:1], B[0]):
        np.testing.assert_array_equal(found.integrated_gradients(X, baseline), expected)


def test_the_gradient_is_in_the_columns_own_units():
    found = ratio()
    expected = np.broadcast_to(W / found.scaling_.scale, X.shape)
    np.testing.assert_allclose(found.log_ratio_gradient(X), expected, rtol=1e-5)


def test_the_gradient_is_the_difference_quotient_also_through_a_table():
    found = ratio(curvature=0.4, scaling=AdaptiveMargins())
    assert all(found.scaling_.tabulated)
    rows = np.concatenate([X, CENTER + SCALE * np.array([[30.0, -20.0, 40.0]])])
    gradient = found.log_ratio_gradient(rows)
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-6 * SCALE[i]
        # Not by `log_ratio`, whose single precision a difference quotient would not survive.
        up, down = (exact(found, rows + sign * step) for sign in (1.0, -1.0))
        quotient = (up - down) / (2.0 * step[i])
        # A row within the step of a knot sees both slopes.
        far = np.isclose(quotient, gradient[:, i], rtol=1e-3, atol=1e-4 / SCALE[i])
        assert far.mean() > 0.98
        assert far[-1]


@pytest.mark.parametrize(
    "rule", [SecantSteps(4), Trapezoid(5), GaussLegendre(3), Adaptive(), RungeKutta()]
)
def test_every_rule_has_a_gradient(rule):
    expected = ratio(curvature=0.4).log_ratio_gradient(X)
    found = ratio(curvature=0.4, rule=rule).log_ratio_gradient(X)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_constant_column_has_no_gradient():
    rows = X.copy()
    rows[:, 1] = 4.0
    found = ratio()
    with pytest.warns(UserWarning, match="hold one value"):
        found.scaling_ = Standardise().fitted(rows, rows)
    assert (found.log_ratio_gradient(X)[:, 1] == 0.0).all()
    assert (found.integrated_gradients(X, B)[:, 1] == 0.0).all()


def test_a_trained_network(fitted, samples):
    attributed = fitted.integrated_gradients(samples.x_1, samples.x_0.mean(axis=0))
    expected = fitted.log_ratio(samples.x_1) - fitted.log_ratio([samples.x_0.mean(axis=0)])
    np.testing.assert_allclose(attributed.sum(axis=1), expected, atol=1e-3)


def test_bad_baselines_and_nodes_are_refused():
    with pytest.raises(ValueError, match="`baseline` must have 1 row, or 300"):
        ratio().integrated_gradients(X, B[:7])
    with pytest.raises(ValueError, match="X has 2 features, but SecantRatio is expecting 3"):
        ratio().integrated_gradients(X, B[0, :2])
    with pytest.raises(ValueError, match="`n_nodes` must be a whole number"):
        ratio().integrated_gradients(X, B, n_nodes=0)


def test_log_ratios_do_not_depend_on_units(new, fitted, samples):
    scale, shift = np.array([1e-9, 7.0, 1e9]), np.array([1e-8, -3.0, 1e10])
    moved = [scale * x + shift for x in samples]
    other = new().fit_samples(*moved).log_ratio(moved[0])
    # The scaled rows agree to the last bit or two of float32, and 40 steps of training multiply
    # such differences: 1e-3 nats leaves a factor of a hundred for that.
    np.testing.assert_allclose(other, fitted.log_ratio(samples.x_0), atol=1e-3)


def test_rows_beyond_single_precision_stay_finite(fitted):
    far = np.array([[1e30, -1e30, 0.0], [1e300, 1e12, -1e200]])
    assert np.isfinite(fitted.log_ratio(far)).all()
