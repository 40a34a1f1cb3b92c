"""Schedules at points computed by hand; common laws are in laws/."""

import numpy as np
import pytest
from equinox import filter_jit

from secant.schedules import Cosine, Foellmer, Linear, Trigonometric, VariancePreserving

pytestmark = pytest.mark.usefixtures("float64")

TIMES = np.array([0.0, 0.2, 0.5, 0.9])


def rates(schedule):
    """((α, β), (α̇, β̇)) at the times above."""
    return np.asarray(filter_jit(schedule.rates)(TIMES))


ROUNDING = {"rtol": 1e-12, "atol": 1e-14}


def test_linear():
    (alpha, beta), (alpha_rate, beta_rate) = rates(Linear())
    np.testing.assert_allclose(alpha, 1 - TIMES, **ROUNDING)
    np.testing.assert_allclose(beta, TIMES, **ROUNDING)
    np.testing.assert_array_equal(alpha_rate, -np.ones(4))
    np.testing.assert_array_equal(beta_rate, np.ones(4))


def test_trigonometric_turns_at_constant_speed():
    (alpha, beta), (alpha_rate, beta_rate) = rates(Trigonometric())
    np.testing.assert_allclose(alpha, np.cos(np.pi * TIMES / 2), **ROUNDING)
    np.testing.assert_allclose(alpha_rate, -np.pi / 2 * np.asarray(beta), **ROUNDING)
    np.testing.assert_allclose(beta_rate, np.pi / 2 * np.asarray(alpha), **ROUNDING)


def test_foellmer():
    (alpha, beta), (alpha_rate, _) = rates(Foellmer())
    np.testing.assert_array_equal(beta, TIMES)
    np.testing.assert_allclose(alpha, np.sqrt(1 - TIMES**2), **ROUNDING)
    np.testing.assert_allclose(alpha_rate, -TIMES / np.sqrt(1 - TIMES**2), **ROUNDING)


def test_variance_preserving_is_the_diffusion_run_backwards():
    # The forward diffusion dx = −½ b(s) x ds has log β = −½ ∫_0^{1−t} b, b rising from 0.1 to 20.
    s = 1 - TIMES
    integral = 0.1 * s + 0.5 * (20 - 0.1) * s**2
    (_, beta), (_, beta_rate) = rates(VariancePreserving())
    np.testing.assert_allclose(beta, np.exp(-0.5 * integral), **ROUNDING)
    rate = 0.1 + (20 - 0.1) * s
    np.testing.assert_allclose(beta_rate, 0.5 * rate * np.asarray(beta), **ROUNDING)


def test_variance_preserving_starts_at_a_known_small_number():
    assert float(rates(VariancePreserving())[0][1][0]) == pytest.approx(0.0066, abs=5e-5)


def test_cosine_is_the_improved_diffusion_schedule():
    def level(s):
        return np.cos(np.pi / 2 * (s + 0.008) / 1.008) ** 2

    beta = rates(Cosine())[0][1]
    np.testing.assert_allclose(np.asarray(beta) ** 2, level(1 - TIMES) / level(0), **ROUNDING)


@pytest.mark.parametrize("schedule", [Foellmer(), VariancePreserving(), Cosine(), Trigonometric()])
def test_variance_of_standardised_samples_is_kept(schedule):
    alpha, beta = rates(schedule)[0]
    np.testing.assert_allclose(alpha**2 + beta**2, 1.0, **ROUNDING)


@pytest.mark.parametrize(("low", "high"), [(0.0, 20.0), (20.0, 0.1), (1.0, 1.0)])
def test_variance_preserving_names_bad_rates(low, high):
    with pytest.raises(ValueError, match=f"0 < rate_min < rate_max; got rate_min={low}"):
        VariancePreserving(low, high)


@pytest.mark.parametrize("offset", [0.0, 1.0, -0.1])
def test_cosine_names_a_bad_offset(offset):
    with pytest.raises(ValueError, match=f"0 < offset < 1; got offset={offset}"):
        Cosine(offset)
