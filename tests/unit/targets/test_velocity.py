"""The velocity form on linear-Gaussian paths, where the time score and the secant are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import batch, moments, oracle, slope_z, slopes, z_scores

from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.schedules import Foellmer
from secant.targets import ImpliedVelocity, SecantVelocity, TangentVelocity
from secant.targets.velocity import velocity_losses

pytestmark = pytest.mark.usefixtures("float64")

# No end is standard normal: the velocity form must not care.
PATH = DiffusionBridge(gamma=0.5, epsilon=0.1)
FULL = SecantVelocity(stop_gradient=False)
TARGETS = [TangentVelocity(), ImpliedVelocity(), SecantVelocity(), FULL]
PUSH = 0.1


def test_loss_is_square_minus_twice_the_derivative_along_the_velocity():
    value, along = np.array([3.0, -1.0]), np.array([0.5, 2.0])
    np.testing.assert_allclose(velocity_losses(value, along), [8.0, -3.0])


@pytest.mark.parametrize("target", TARGETS, ids=repr)
def test_slope_vanishes_at_the_truth(target):
    truth = oracle(PATH, standard=False)
    z = slope_z(target, truth, batch(truth, target.time_range(PATH)))
    assert (np.abs(z) < 4.5).all()  # standard errors, 5 directions


@pytest.mark.parametrize("target", TARGETS, ids=repr)
def test_slope_sees_a_model_that_is_off(target):
    truth = oracle(PATH, standard=False)
    z = slope_z(target, truth, batch(truth, target.time_range(PATH)), theta=PUSH)
    assert (np.abs(z) > 10).sum() >= 4  # of 5 directions, in standard errors


def test_excess_loss_is_the_squared_distance_to_the_truth():
    # J(f) − J(s) = E|f − s|²: row by row the difference has mean zero.
    target, truth = TangentVelocity(), oracle(PATH, standard=False)
    rows = batch(truth)
    pushed = truth.pushed(np.array([PUSH, PUSH, PUSH, 0.0, 0.0]))  # the same at every l and t

    @filter_jit
    def excess(f, s, rows):
        losses = target.losses(f, PATH, rows) - target.losses(s, PATH, rows)
        x_t = PATH.point(rows.x_0, rows.x_1, rows.z, rows.t).x_t
        return losses, jnp.sum(f.push(x_t, rows.t, rows.t), axis=-1) ** 2

    losses, squares = (np.asarray(a) for a in excess(pushed, truth, rows))
    assert abs(z_scores(losses - squares)) < 4.5  # standard errors
    assert z_scores(losses) > 10  # and there is something to see


def test_secant_loss_over_empty_intervals_is_the_tangent_loss():
    truth = oracle(PATH, standard=False).pushed(np.full(5, PUSH))
    rows = batch(truth, n=50, tangent_share=1.0)

    @filter_jit
    def losses(target):
        return target.losses(truth, PATH, rows)

    tangent = losses(TangentVelocity())
    for target in TARGETS[1:]:
        np.testing.assert_allclose(losses(target), tangent, rtol=1e-10)


def test_weighted_loss_is_damped_where_the_conditional_score_is_noisy():
    truth = oracle(PATH, standard=False).pushed(np.full(5, PUSH))
    rows, d = batch(truth, n=50), 2
    losses = filter_jit(lambda target: target.losses(truth, PATH, rows))
    variance = filter_jit(PATH.mean_conditional_variance)(rows.t, moments(truth), d)
    weight = d / (d + np.asarray(variance))
    plain, weighted = losses(ImpliedVelocity()), losses(ImpliedVelocity(moments(truth)))
    np.testing.assert_allclose(weighted, weight * plain, rtol=1e-9, atol=1e-12)
    singular = DiffusionInterpolant(end_cut=0.01)
    assert ImpliedVelocity(moments(truth)).time_range(singular) == (0.0, 0.99)


def test_correction_carries_no_gradient():
    # Row by row the slope in the direction g = t x is 2 g (u + c) − 2 ẋ·∇g, and u + c = s (S1).
    truth = oracle(PATH, standard=False)
    rows = batch(truth, n=50, tangent_share=0.0)
    slope = slopes(SecantVelocity(), truth, PATH, rows, np.zeros(5))[:, 3]

    @filter_jit
    def by_hand():
        x_t, velocity = PATH.point(rows.x_0, rows.x_1, rows.z, rows.t)
        tangent = truth.time_score(x_t, rows.t)
        g, along = jnp.sum(rows.t[:, None] * x_t, -1), jnp.sum(rows.t[:, None] * velocity, -1)
        return 2 * g * tangent - 2 * along

    np.testing.assert_allclose(slope, by_hand(), rtol=1e-8, atol=1e-8)


def test_whole_path_is_used_unless_its_rates_are_unbounded():
    for target in TARGETS:
        assert target.time_range(DiffusionInterpolant()) == (0.0, 1.0)
        foellmer = Foellmer()
        assert target.time_range(DiffusionInterpolant(foellmer)) == (0.0, 1.0 - foellmer.cut)


def test_full_gradient_judges_every_left_end_by_the_same_tangent():
    # (V3): J is ‖f_l − s‖² − ‖s‖² for f_l = ∂_t [(t − l) u(·, l, t)], whatever l is.
    truth = oracle(PATH, standard=False)
    rows = batch(truth)
    pushed = truth.pushed(np.array([PUSH, PUSH, PUSH, PUSH, PUSH]))

    @filter_jit
    def excess(f, s, rows):
        losses = FULL.losses(f, PATH, rows) - FULL.losses(s, PATH, rows)
        x_t = PATH.point(rows.x_0, rows.x_1, rows.z, rows.t).x_t
        x, l, t = x_t, rows.l[:, None], rows.t[:, None]
        # By hand: ∂_t [(t − l) g] of 1, x, x², t x and l x².
        implied = PUSH * (1 + x + x**2 + (2 * t - l) * x + l * x**2)
        return losses, jnp.sum(implied, axis=-1) ** 2

    losses, squares = (np.asarray(a) for a in excess(pushed, truth, rows))
    for early in (rows.l < 0.2, rows.l >= 0.2):
        assert abs(z_scores((losses - squares)[early])) < 4.5  # standard errors
        assert z_scores(losses[early]) > 10  # and there is something to see


def test_full_gradient_reaches_the_correction():
    # Its slope at a model that is off differs from that under the stop-gradient.
    truth = oracle(PATH, standard=False)
    rows = batch(truth, n=50, tangent_share=0.0)
    full, stopped = (
        slopes(target, truth, PATH, rows, np.full(5, PUSH)) for target in (FULL, SecantVelocity())
    )
    assert np.max(np.abs(np.asarray(full) - np.asarray(stopped))) > 0.1


def test_consistency_is_zero_for_an_additive_secant_and_sees_another():
    consistent = SecantVelocity(stop_gradient=False, consistency=2.0)
    truth = oracle(PATH, standard=False)
    rows = batch(truth, n=64)
    gap = filter_jit(lambda m: consistent.losses(m, PATH, rows) - FULL.losses(m, PATH, rows))
    np.testing.assert_allclose(gap(truth), 0.0, atol=1e-9)
    pushed = truth.pushed(np.array([0.0, 0.0, 0.0, 1.0, 0.0]))  # t x: no difference of two times
    found = np.asarray(gap(pushed))
    # Row 0 is of x_0 over the whole path: Σ (t − l) t x over pieces of 1/4 is 0.625 x, not x.
    assert found[0] == pytest.approx(2.0 * (0.375 * np.sum(rows.x_0[0])) ** 2)
    assert found[8] == pytest.approx(2.0 * (0.375 * np.sum(rows.x_1[8])) ** 2)


@pytest.mark.parametrize("path", [DiffusionInterpolant(), PATH], ids=["interpolant", "bridge"])
def test_spatial_loss_is_the_squared_distance_of_gradients(path):
    # (V4) at g less (V4) at the truth is w σ² ‖g − ∇ log p_t/p_0‖²: the difference has mean zero.
    spatial = SecantVelocity(stop_gradient=False, spatial=1.0)
    truth = oracle(path)
    rows, push = batch(truth), 3 * PUSH
    pushed = truth.pushed(np.array([0.0, push, push, push, 0.0]))

    @filter_jit
    def excess(f, s, rows):
        alone = [spatial.losses(m, path, rows) - FULL.losses(m, path, rows) for m in (f, s)]
        x, t = path.point(rows.x_0, rows.x_1, rows.z, rows.t).x_t, rows.t[:, None]
        scale = path.conditional(rows.x_0, rows.x_1, rows.z, rows.t).scale[:, None]
        gap = scale * push * t * (1 + 2 * x + t)  # by hand: t ∂_x of x, x² and t x
        log_odds = jax.vmap(jax.grad(lambda time: jnp.log(jnp.divide(*path.schedule(time)[::-1]))))
        weight = 1.0 / (1.0 / log_odds(rows.t) + 0.015)
        return alone[0] - alone[1], weight * jnp.sum(gap**2, axis=-1)

    losses, squares = (np.asarray(a)[::2] for a in excess(pushed, truth, rows))  # others repeat
    assert abs(z_scores(losses - squares)) < 4.5  # standard errors
    assert z_scores(losses) > 10  # and there is something to see


def test_spatial_loss_needs_a_standard_normal_start():
    assert SecantVelocity(spatial=1.0).needs_standard_normal(PATH)
    assert not SecantVelocity().needs_standard_normal(DiffusionInterpolant())
    with pytest.raises(ValueError, match="spatial >= 0; got -1"):
        SecantVelocity(spatial=-1.0)


def test_states_are_compared_by_the_same_terms():
    assert SecantVelocity(consistency=0.5, spatial=2.0).held_out == SecantVelocity(
        stop_gradient=False, consistency=0.5, spatial=2.0
    )
    assert not FULL.bootstraps
    assert SecantVelocity().bootstraps
