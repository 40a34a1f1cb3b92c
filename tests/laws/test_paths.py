"""What every path must satisfy, under every schedule."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from jax.scipy.stats import norm
from tests.laws.registry import PATHS, SCHEDULES

from secant.paths import conditional_time_score

pytestmark = [
    pytest.mark.usefixtures("float64"),
    pytest.mark.parametrize("schedule", SCHEDULES),
    pytest.mark.parametrize("kind", PATHS),
]

N, D = 5, 2
X_0, X_1, Z = np.random.default_rng(0).standard_normal((3, N, D))


@functools.cache
def program(kind, schedule):
    """(path, t ↦ (x_t, ẋ_t, γ_t, conditional, (C1), its oracle)), compiled once a path."""
    path = PATHS[kind](SCHEDULES[schedule])

    def everything(t):
        x_t, velocity = path.point(X_0, X_1, Z, t)
        given = path.conditional(X_0, X_1, Z, t)
        # The conditional is N(x_t − σε, σ² I); its mean moves at μ̇ and its scale at σ̇, x_t stays.
        mean = x_t - given.scale[:, None] * given.noise

        def log_density(step):
            scale = given.scale + step * given.scale_rate
            return norm.logpdf(x_t, mean + step * given.mean_rate, scale[:, None])

        oracle = jax.jvp(log_density, (jnp.zeros(()),), (jnp.ones(()),))[1]
        score = conditional_time_score(given)
        return x_t, velocity, path.noise_scale(t), score, oracle

    return path, filter_jit(everything)


def test_ends_are_the_samples_up_to_the_path_s_noise(kind, schedule):
    _, everything = program(kind, schedule)
    slack = 3 * 0.0067 if schedule == "variance preserving" else 1e-7  # β_0 or √1e-16, |x| < 3
    for time, end in ((0.0, X_0), (1.0, X_1)):
        x_t, _, gamma, *_ = everything(np.full(N, time))
        np.testing.assert_allclose(x_t, end + np.asarray(gamma)[:, None] * Z, atol=slack)


def test_velocity_is_the_rate_of_the_position(kind, schedule):
    _, everything = program(kind, schedule)
    t, h = np.linspace(0.1, 0.9, N), 1e-5
    difference = np.asarray(everything(t + h)[0]) - np.asarray(everything(t - h)[0])
    # Truncation h²/6 · |x‴| with |x‴| < 1e3, rounding 1e-16/h.
    np.testing.assert_allclose(everything(t)[1], difference / (2 * h), atol=1e-7)


def test_c1_is_the_autodiff_of_the_conditional_at_fixed_x(kind, schedule):
    *_, score, oracle = program(kind, schedule)[1](np.linspace(0.1, 0.9, N))
    np.testing.assert_allclose(score, oracle, rtol=1e-9, atol=1e-10)


def test_all_is_finite_where_the_path_says_so(kind, schedule):
    path, everything = program(kind, schedule)
    for low, high in (path.time_range, path.conditional_time_range):
        assert 0.0 <= low < high <= 1.0
    assert np.isfinite(everything(np.linspace(*path.time_range, N))[1]).all()
    assert np.isfinite(everything(np.linspace(*path.conditional_time_range, N))[3]).all()
