"""The conditional target (L1) on linear-Gaussian paths, and where its assumption ends."""

import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import batch, moments, oracle, slope_z, slopes

from secant.paths import (
    DiffusionBridge,
    DiffusionInterpolant,
    Moments,
    conditional_time_score,
)
from secant.targets import ConditionalSecantAlignment, ConditionalTimeScore

pytestmark = pytest.mark.usefixtures("float64")

BRIDGE = DiffusionBridge(gamma=0.5, epsilon=0.1)
INTERPOLANT = DiffusionInterpolant(end_cut=0.01)
# The interpolant's conditional needs p_0 = N(0, I); the bridge takes any two ends.
CASES = [
    pytest.param(INTERPOLANT, True, id="interpolant"),
    pytest.param(BRIDGE, False, id="bridge"),
]
VECTORISED = [pytest.param(False, id="scalar"), pytest.param(True, id="vectorised")]


def target_for(truth, *, vectorised):
    return ConditionalSecantAlignment(moments(truth), vectorised=vectorised)


@pytest.mark.parametrize("vectorised", VECTORISED)
@pytest.mark.parametrize(("path", "standard"), CASES)
def test_slope_vanishes_at_the_true_secant(path, standard, vectorised):
    truth = oracle(path, standard=standard)
    target = target_for(truth, vectorised=vectorised)
    rows = batch(truth, target.time_range(path))
    assert (np.abs(slope_z(target, truth, rows)) < 4.5).all()  # standard errors, 5 directions
    assert (np.abs(slope_z(target, truth, rows, theta=0.3)) > 10).sum() >= 4


def test_interpolant_is_wrong_where_p_0_is_not_standard_normal():
    # The paper uses it for any p_0 (erratum 3).
    truth = oracle(INTERPOLANT, standard=False)
    target = target_for(truth, vectorised=False)
    z = slope_z(target, truth, batch(truth, target.time_range(INTERPOLANT)))
    assert np.max(np.abs(z)) > 10  # standard errors


@pytest.mark.parametrize("vectorised", VECTORISED)
def test_empty_intervals_give_conditional_time_score_matching(vectorised):
    truth = oracle(BRIDGE, standard=False).pushed(np.full(5, 0.2))
    rows, (square_0, square_1, cross) = batch(truth, n=40, tangent_share=1.0), moments(truth)
    target = target_for(truth, vectorised=vectorised)

    @filter_jit
    def by_hand():
        given = BRIDGE.conditional(rows.x_0, rows.x_1, rows.z, rows.t)
        x_t = BRIDGE.point(rows.x_0, rows.x_1, rows.z, rows.t).x_t
        gap = conditional_time_score(given) - truth.parts(x_t, rows.t, rows.t)
        square = jnp.sum(gap**2, -1) if vectorised else jnp.sum(gap, -1) ** 2
        # λ = 1/E_y Var on the trigonometric bridge.
        (_, _), (alpha_rate, beta_rate) = BRIDGE.schedule.rates(rows.t)
        mean_rate_square = alpha_rate**2 * square_0 + beta_rate**2 * square_1
        mean_rate_square += 2 * alpha_rate * beta_rate * cross
        variance = (2 * 2 * given.scale_rate**2 + mean_rate_square) / given.scale**2
        return square / variance

    losses = filter_jit(lambda: target.losses(truth, BRIDGE, rows))()
    np.testing.assert_allclose(losses, by_hand(), rtol=1e-9)


def test_weight_depends_on_the_time_alone():
    # A weight that knows y biases the regression: doubling x_1 in one row must leave λ alone.
    truth = oracle(BRIDGE, standard=False)
    rows = batch(truth, n=4, tangent_share=1.0)
    base = ConditionalSecantAlignment(Moments(1.0, 1.0, 0.0))
    scaled = ConditionalSecantAlignment(Moments(2.0, 2.0, 0.0))
    losses = filter_jit(lambda target: target.losses(truth, BRIDGE, rows))
    ratio = np.asarray(losses(base)) / np.asarray(losses(scaled))

    def variance(square):
        m = Moments(square, square, 0.0)
        return filter_jit(lambda t: BRIDGE.mean_conditional_variance(t, m, 2))(rows.t)

    np.testing.assert_allclose(ratio, np.asarray(variance(2.0)) / variance(1.0), rtol=1e-12)


def test_correction_carries_no_gradient():
    # Row by row the slope in the direction g = Σ t x is −2 λ g (s(x_t|y) − s): u + c = s (S1).
    truth = oracle(BRIDGE, standard=False)
    rows = batch(truth, n=40, tangent_share=0.0)
    target = target_for(truth, vectorised=False)

    @filter_jit
    def by_hand():
        given = BRIDGE.conditional(rows.x_0, rows.x_1, rows.z, rows.t)
        x_t = BRIDGE.point(rows.x_0, rows.x_1, rows.z, rows.t).x_t
        gap = jnp.sum(conditional_time_score(given), -1) - truth.time_score(x_t, rows.t)
        weight = 1 / BRIDGE.mean_conditional_variance(rows.t, target.moments, 2)
        return -2 * weight * gap * jnp.sum(rows.t[:, None] * x_t, -1)

    slope = slopes(target, truth, BRIDGE, rows, np.zeros(5))[:, 3]
    np.testing.assert_allclose(slope, by_hand(), rtol=1e-8, atol=1e-8)


def test_interpolant_stops_before_its_singular_end():
    target = ConditionalSecantAlignment(Moments(1.0, 1.0, 0.0))
    assert target.time_range(INTERPOLANT) == (0.0, 0.99)
    assert target.time_range(BRIDGE) == (0.0, 1.0)


@pytest.mark.parametrize("vectorised", VECTORISED)
def test_tangent_regression_is_secant_alignment_on_empty_intervals(vectorised):
    truth = oracle(BRIDGE).pushed(np.full(5, 0.1))
    rows = batch(truth, BRIDGE.conditional_time_range, n=200)
    tangent = ConditionalTimeScore(moments(truth), vectorised=vectorised)
    aligned = ConditionalSecantAlignment(moments(truth), vectorised=vectorised)
    one = filter_jit(tangent.losses)(truth, BRIDGE, rows)
    other = filter_jit(aligned.losses)(truth, BRIDGE, rows._replace(l=rows.t))
    np.testing.assert_allclose(one, other, rtol=1e-9)
    assert tangent.time_range(BRIDGE) == BRIDGE.conditional_time_range
