"""The Gaussian anchor (G1) against SciPy's multivariate normal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from tests.laws.registry import randomised

from secant.models import (
    AlignedSecant,
    Anchored,
    GaussianAnchor,
    MixtureAnchor,
    ResidualMLP,
    TangentNetwork,
)
from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.schedules import Foellmer, Linear

pytestmark = pytest.mark.usefixtures("float64")

MEAN_0, MEAN_1 = np.array([0.5, -1.0, 0.2]), np.array([1.0, 0.3, -2.0])
COV_0 = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
COV_1 = np.array([[0.4, -0.1, 0.0], [-0.1, 3.0, 0.6], [0.0, 0.6, 1.0]])
N = 6
X = 2 * np.random.default_rng(0).standard_normal((N, 3))
ROUNDING = {"rtol": 1e-10, "atol": 1e-10}


def fitted(path, cov_0=COV_0, cov_1=COV_1):
    return GaussianAnchor.fitted(MEAN_0, cov_0, MEAN_1, cov_1, path)


@filter_jit
def coefficients(path, time):
    return (*path.schedule(time), path.noise_scale(time))


def log_density(path, time, cov_0=COV_0, cov_1=COV_1):
    """log N(x; m_t, S_t) at the rows X."""
    alpha, beta, gamma = (float(c) for c in coefficients(path, np.asarray(time)))
    covariance = alpha**2 * cov_0 + beta**2 * cov_1 + gamma**2 * np.eye(3)
    return multivariate_normal(alpha * MEAN_0 + beta * MEAN_1, covariance).logpdf(X)


def at(time):
    return np.full(N, time)


@pytest.mark.parametrize("time", [0.0, 0.3, 1.0])
def test_time_score_is_the_textbook_derivative(time):
    # −½ tr(S⁻¹Ṡ) + gᵀS⁻¹ṁ + ½ gᵀS⁻¹ṠS⁻¹g on the trigonometric path, rates by hand.
    c, s, half_pi = np.cos(np.pi * time / 2), np.sin(np.pi * time / 2), np.pi / 2
    covariance = c**2 * COV_0 + s**2 * COV_1
    covariance_rate = 2 * half_pi * c * s * (COV_1 - COV_0)
    mean, mean_rate = c * MEAN_0 + s * MEAN_1, half_pi * (c * MEAN_1 - s * MEAN_0)
    inverse = np.linalg.inv(covariance)
    whitened = (X - mean) @ inverse
    expected = -0.5 * np.trace(inverse @ covariance_rate) + whitened @ mean_rate
    expected = expected + 0.5 * np.sum(whitened @ covariance_rate * whitened, axis=1)
    score = filter_jit(fitted(DiffusionInterpolant()).time_score)(X, at(time))
    np.testing.assert_allclose(score, expected, **ROUNDING)


@pytest.mark.parametrize(("l", "t"), [(0.0, 1.0), (0.2, 0.7), (0.5, 0.502)])
@pytest.mark.parametrize("path", [DiffusionInterpolant(), DiffusionInterpolant(Linear())], ids=repr)
def test_secant_is_the_difference_of_log_densities(path, l, t):
    expected = (log_density(path, t) - log_density(path, l)) / (t - l)
    secant = filter_jit(fitted(path).secant)(X, at(l), at(t))
    np.testing.assert_allclose(secant, expected, rtol=1e-9, atol=1e-10)


def test_log_ratio_of_a_gaussian_pair_is_exact():
    expected = multivariate_normal(MEAN_1, COV_1).logpdf(X)
    expected -= multivariate_normal(MEAN_0, COV_0).logpdf(X)
    log_ratio = filter_jit(fitted(DiffusionInterpolant()).secant)(X, at(0.0), at(1.0))
    np.testing.assert_allclose(log_ratio, expected, **ROUNDING)


@pytest.mark.parametrize("length", [1e-2, 5e-4, 1e-6, 0.0])
def test_short_secants_approach_the_time_score(length):
    anchor = fitted(DiffusionInterpolant())
    middle = 0.4
    secant = filter_jit(anchor.secant)(X, at(middle - length / 2), at(middle + length / 2))
    score = np.asarray(filter_jit(anchor.time_score)(X, at(middle)))
    # The mean over an interval differs from its middle by length²/24 · |∂²_t s|, here under 1e3.
    assert np.max(np.abs(np.asarray(secant) - score)) <= 1e3 / 24 * length**2 + 1e-10


def test_short_secants_are_not_lost_to_rounding_in_single_precision():
    with jax.enable_x64(False):
        anchor = fitted(DiffusionInterpolant())
        x = X.astype(np.float32)
        secant = np.asarray(filter_jit(anchor.secant)(x, at(0.4), at(0.4002)))
    exact = filter_jit(fitted(DiffusionInterpolant()).secant)(X, at(0.4), at(0.4002))
    # 1e-5 relative to the largest of them: a plain difference of log densities errs by 1e-2.
    np.testing.assert_allclose(secant, exact, atol=1e-5 * np.max(np.abs(exact)), rtol=1e-5)


@pytest.mark.parametrize("time", [0.1, 0.5, 0.9])
def test_bridge_noise_is_exact_for_commuting_covariances(time):
    vectors = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    cov_0 = vectors @ np.diag([0.5, 1.0, 2.0]) @ vectors.T
    cov_1 = vectors @ np.diag([1.5, 0.2, 1.0]) @ vectors.T
    path = DiffusionBridge(gamma=0.7, epsilon=0.1)
    secant = filter_jit(fitted(path, cov_0, cov_1).secant)(X, at(0.0), at(time))
    rise = log_density(path, time, cov_0, cov_1) - log_density(path, 0.0, cov_0, cov_1)
    np.testing.assert_allclose(secant, rise / time, **ROUNDING)


def test_time_score_is_finite_at_the_end_of_a_singular_schedule():
    # S_t depends on α² alone, which is smooth: ∂_t log N(x; t m_1, (1 − t²) S_0 + t² S_1) at 1.
    anchor = GaussianAnchor.fitted(
        np.zeros(3), COV_0, MEAN_1, COV_1, DiffusionInterpolant(Foellmer())
    )
    assert np.isfinite(filter_jit(anchor.time_score)(X, at(1.0))).all()


PAIR_WEIGHTS = np.array([0.2, 0.1, 0.7])


def mixture():
    """Three Gaussian paths that share neither means nor covariances."""
    path = DiffusionInterpolant()
    ends = [(MEAN_0, COV_0, MEAN_1, COV_1), (MEAN_1, COV_1, MEAN_0, COV_0)]
    ends.append((-MEAN_0, 2 * COV_1, 3 * MEAN_1, 0.5 * COV_0))
    return ends, MixtureAnchor.of([GaussianAnchor.fitted(*e, path) for e in ends], PAIR_WEIGHTS)


def mixture_log_density(ends, time):
    c, s = np.cos(np.pi * time / 2), np.sin(np.pi * time / 2)
    parts = [
        multivariate_normal(c * m_0 + s * m_1, c**2 * s_0 + s**2 * s_1).logpdf(X)
        for m_0, s_0, m_1, s_1 in ends
    ]
    return logsumexp(np.stack(parts), b=PAIR_WEIGHTS[:, None], axis=0)


@pytest.mark.parametrize(("l", "t"), [(0.0, 1.0), (0.3, 0.6)])
def test_mixture_secant_is_the_difference_of_mixture_log_densities(l, t):
    ends, anchor = mixture()
    expected = (mixture_log_density(ends, t) - mixture_log_density(ends, l)) / (t - l)
    np.testing.assert_allclose(filter_jit(anchor.secant)(X, at(l), at(t)), expected, **ROUNDING)


def test_mixture_time_score_is_the_rate_of_its_log_density():
    ends, anchor = mixture()
    h = 1e-5  # truncation h²/6 · |∂³_t| below 1e-6 here, rounding 1e-15/h = 1e-10
    rate = (mixture_log_density(ends, 0.4 + h) - mixture_log_density(ends, 0.4 - h)) / (2 * h)
    score = filter_jit(anchor.time_score)(X, at(0.4))
    np.testing.assert_allclose(score, rate, rtol=1e-6, atol=1e-6)


def test_log_density_is_normalised_up_to_the_power_of_two_pi():
    # Mixtures of anchors are wrong if each carries a constant of its own.
    ends, anchor = mixture()
    log_density = filter_jit(anchor.log_density)(X, at(0.4))
    expected = mixture_log_density(ends, 0.4) + 1.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_density, expected, **ROUNDING)


def residual():
    return randomised(AlignedSecant(ResidualMLP(5, 1), vectorised=True), 3)


def test_anchored_model_adds_its_residual():
    anchor, rest = fitted(DiffusionInterpolant()), residual()
    model, x, l, t = Anchored(anchor, rest), X, at(0.2), at(0.9)
    secants = [np.asarray(filter_jit(f.secant)(x, l, t)) for f in (model, anchor, rest)]
    np.testing.assert_allclose(secants[0], secants[1] + secants[2], rtol=1e-12)
    scores = [np.asarray(filter_jit(f.time_score)(x, t)) for f in (model, anchor, rest)]
    np.testing.assert_allclose(scores[0], scores[1] + scores[2], rtol=1e-12)
    # Spread evenly over the parts.
    parts = [np.asarray(filter_jit(f.parts)(x, l, t)) for f in (model, rest)]
    extra = parts[0] - parts[1]
    np.testing.assert_allclose(extra, extra[:, :1] * np.ones(3), rtol=1e-9)


def test_anchored_model_costs_what_its_residual_costs():
    rest = randomised(TangentNetwork(ResidualMLP(5, 1), n_nodes=7), 3)
    assert Anchored(fitted(DiffusionInterpolant()), rest).secant_evaluations == 7


def two_component_anchor(path):
    other = GaussianAnchor.fitted(-MEAN_0, COV_1, MEAN_1 + 1.0, COV_0, path)
    return MixtureAnchor.of([fitted(path), other], np.array([0.3, 0.7]))


@pytest.mark.parametrize("kind", [fitted, two_component_anchor], ids=["Gaussian", "mixture"])
@pytest.mark.parametrize("schedule", [Linear(), Foellmer()], ids=lambda s: type(s).__name__)
def test_the_mean_velocity_moves_the_density(kind, schedule):
    # The continuity equation at one point: ∂_t log q + v̄·∇ log q + ∇·v̄ = 0.
    anchor, time = kind(DiffusionInterpolant(schedule)), np.asarray(0.4)

    def log_q(x, t):
        return anchor.log_density(x[None], t[None])[0]

    def velocity(x, t):
        return anchor.mean_velocity(x[None], t[None])[0]

    def left_over(x):
        slope, rate = jax.grad(log_q, (0, 1))(x, time)
        divergence = jnp.trace(jax.jacfwd(velocity)(x, time))
        return rate + slope @ velocity(x, time) + divergence

    np.testing.assert_allclose(jax.jit(jax.vmap(left_over))(X), 0.0, atol=1e-9)
