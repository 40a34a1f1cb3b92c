"""Positions, velocities and conditional time scores against finite differences and autodiff."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from jax.scipy.stats import norm
from tests.laws.oracle import z_scores

from secant.paths import (
    Conditional,
    DiffusionBridge,
    DiffusionInterpolant,
    Moments,
    conditional_time_score,
    conditional_variance,
)
from secant.schedules import Foellmer, Linear, Trigonometric, VariancePreserving

pytestmark = pytest.mark.usefixtures("float64")

N, D = 7, 3
SCHEDULES = [Linear(), Trigonometric(), VariancePreserving()]
INTERPOLANTS = [DiffusionInterpolant(s) for s in SCHEDULES]
BRIDGES = [DiffusionBridge(s, gamma=0.8, epsilon=0.05) for s in SCHEDULES]
PATHS = INTERPOLANTS + BRIDGES
EXACT_ENDS = [p for p in PATHS if not isinstance(p.schedule, VariancePreserving)]


def rows(seed=0):
    rng = np.random.default_rng(seed)
    return (*rng.standard_normal((3, N, D)), np.linspace(0.1, 0.9, N))


@filter_jit
def point(path, x_0, x_1, z, t):
    return path.point(x_0, x_1, z, t)


@filter_jit
def conditional(path, x_0, x_1, z, t):
    return path.conditional(x_0, x_1, z, t)


@filter_jit
def rates(path, t):
    return path.schedule.rates(t)


@pytest.mark.parametrize("path", EXACT_ENDS, ids=repr)
def test_ends_are_the_samples_blurred_by_epsilon(path):
    x_0, x_1, z, _ = rows()
    blur = np.sqrt(getattr(path, "epsilon", 0.0)) * z
    start, end = (point(path, x_0, x_1, z, np.full(N, t)).x_t for t in (0.0, 1.0))
    np.testing.assert_allclose(start, x_0 + blur, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(end, x_1 + blur, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("path", PATHS, ids=repr)
def test_velocity_is_the_rate_of_the_position(path):
    x_0, x_1, z, t = rows()
    h = 1e-5  # truncation h²/6 · |x‴| ≈ 1e-8 under VP, rounding 1e-16/h = 1e-11
    ahead, behind = (np.asarray(point(path, x_0, x_1, z, t + step).x_t) for step in (h, -h))
    velocity = point(path, x_0, x_1, z, t).velocity
    np.testing.assert_allclose(velocity, (ahead - behind) / (2 * h), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("path", BRIDGES, ids=repr)
def test_bridge_noise_rate_keeps_the_epsilon_term(path):
    # Erratum 4: γ̇_t = (γ²(1−2t) + 2ε(αα̇ + ββ̇)) / (2γ_t).
    x_0, x_1, z, t = rows()
    (alpha, beta), (alpha_rate, beta_rate) = np.asarray(rates(path, t))
    drift = 2 * path.epsilon * (alpha * alpha_rate + beta * beta_rate)
    gamma_t = np.sqrt(t * (1 - t) * path.gamma**2 + (alpha**2 + beta**2) * path.epsilon)
    closed_form = (path.gamma**2 * (1 - 2 * t) + drift) / (2 * gamma_t)
    given = conditional(path, x_0, x_1, z, t)
    np.testing.assert_allclose(given.scale, gamma_t, rtol=1e-12)
    np.testing.assert_allclose(given.scale_rate, closed_form, rtol=1e-11, atol=1e-13)
    mean_rate = alpha_rate[:, None] * x_0 + beta_rate[:, None] * x_1
    velocity = point(path, x_0, x_1, z, t).velocity
    np.testing.assert_allclose(velocity, mean_rate + closed_form[:, None] * z, rtol=1e-11)


def test_epsilon_term_of_the_noise_rate_is_visible_under_the_linear_schedule():
    # Otherwise the test above could not tell: αα̇ + ββ̇ is 0 where α² + β² = 1.
    path, t = DiffusionBridge(Linear(), gamma=0.8, epsilon=0.05), np.full(N, 0.2)
    (alpha, beta), (alpha_rate, beta_rate) = np.asarray(rates(path, t))
    assert abs(float((alpha * alpha_rate + beta * beta_rate)[0])) > 0.5


def log_conditional(path, x_0, x_1, x, t):
    """log N(x_i; μ_t, σ_t²) of every coordinate, from the definition of each path."""
    alpha, beta = path.schedule(t)
    if isinstance(path, DiffusionInterpolant):
        mean, scale = beta[:, None] * x_1, alpha
    else:
        mean, scale = alpha[:, None] * x_0 + beta[:, None] * x_1, path.noise_scale(t)
    return norm.logpdf(x, mean, scale[:, None])


@filter_jit
def log_conditional_rate(path, x_0, x_1, x, t):
    """Its derivative in t at fixed x."""
    return jax.jvp(
        lambda time: log_conditional(path, x_0, x_1, x, time), (t,), (jnp.ones_like(t),)
    )[1]


@pytest.mark.parametrize("path", PATHS, ids=repr)
def test_conditional_time_score_is_the_autodiff_of_the_density_at_fixed_x(path):
    x_0, x_1, z, t = rows()
    x_t = point(path, x_0, x_1, z, t).x_t
    oracle = np.asarray(log_conditional_rate(path, x_0, x_1, x_t, t))
    score = np.asarray(filter_jit(conditional_time_score)(conditional(path, x_0, x_1, z, t)))
    scale = np.max(np.abs(oracle))
    np.testing.assert_allclose(score, oracle, rtol=1e-10, atol=1e-12 * scale)
    summed = np.sum(score, axis=-1)
    np.testing.assert_allclose(summed, np.sum(oracle, axis=-1), rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param((0.7, -1.3, [0.5, -2.0]), id="noise shrinks"),
        pytest.param((1.4, 0.0, [1.0, 0.0]), id="noise constant"),
        pytest.param((0.3, 2.0, [0.0, 0.1]), id="noise grows"),
    ],
)
def test_variance_of_the_conditional_time_score(given):
    scale, scale_rate, mean_rate = given
    n = 200_000
    noise = np.random.default_rng(0).standard_normal((n, 2))
    ones = np.ones(n)
    draws = Conditional(noise, np.tile(mean_rate, (n, 1)), scale * ones, scale_rate * ones)
    score = np.asarray(conditional_time_score(draws))
    variance = np.asarray(conditional_variance(draws))[0]
    assert (np.abs(z_scores(score)) < 4.5).all()  # mean zero within 4.5 standard errors
    assert (np.abs(z_scores(score**2 - variance)) < 4.5).all()
    summed = score.sum(axis=1)
    assert abs(z_scores(summed**2 - variance.sum())) < 4.5


@pytest.mark.parametrize("path", PATHS, ids=repr)
def test_mean_conditional_variance_averages_over_the_end_points(path):
    n, t = 50_000, 0.35
    rng = np.random.default_rng(1)
    mean_0, mean_1 = np.array([0.5, -1.0, 0.2]), np.array([1.0, -1.5, 2.0])
    scale_0, scale_1 = np.array([1.0, 0.4, 2.0]), np.array([0.3, 1.5, 0.8])
    x_0 = mean_0 + scale_0 * rng.standard_normal((n, D))
    x_1 = mean_1 + scale_1 * rng.standard_normal((n, D))
    squares = [float(m @ m + s @ s) for m, s in ((mean_0, scale_0), (mean_1, scale_1))]
    moments = Moments(*squares, float(mean_0 @ mean_1))

    @filter_jit
    def variances(x_0, x_1, t):
        per_coordinate = conditional_variance(path.conditional(x_0, x_1, jnp.zeros_like(x_0), t))
        return per_coordinate.sum(axis=-1), path.mean_conditional_variance(t, moments, D)

    per_row, mean = variances(x_0, x_1, np.full(n, t))
    assert abs(z_scores(np.asarray(per_row) - np.asarray(mean))) < 4.5  # standard errors


def test_interpolant_has_no_noise_and_bridge_has():
    key, like = jax.random.key(0, impl="rbg"), jnp.zeros((N, D))
    np.testing.assert_array_equal(DiffusionInterpolant().noise(key, like), 0.0)
    np.testing.assert_array_equal(DiffusionInterpolant().noise_scale(jnp.linspace(0, 1, 5)), 0.0)
    assert np.std(DiffusionBridge().noise(key, like)) > 0.5


def test_time_ranges_stay_clear_of_the_singular_ends():
    interpolant, bridge = DiffusionInterpolant(end_cut=0.01), DiffusionBridge()
    assert interpolant.time_range == (0.0, 1.0)
    assert interpolant.conditional_time_range == (0.0, 0.99)  # σ_t = α_t is 0 at t = 1
    assert bridge.time_range == bridge.conditional_time_range == (0.0, 1.0)
    foellmer = Foellmer()
    assert DiffusionInterpolant(foellmer).time_range == (0.0, 1.0 - foellmer.cut)
    assert DiffusionBridge(foellmer).time_range == (0.0, 1.0 - foellmer.cut)


@pytest.mark.parametrize("end_cut", [0.0, 0.5, -1.0])
def test_bad_end_cut_is_named(end_cut):
    with pytest.raises(ValueError, match=rf"end_cut must lie in \(0, 0.5\); got {end_cut}"):
        DiffusionInterpolant(end_cut=end_cut)


@pytest.mark.parametrize(("gamma", "epsilon"), [(-0.1, 0.1), (0.1, 0.0), (0.1, -1.0)])
def test_bad_bridge_noise_is_named(gamma, epsilon):
    with pytest.raises(ValueError, match=f"got gamma={gamma}, epsilon={epsilon}"):
        DiffusionBridge(gamma=gamma, epsilon=epsilon)
