"""Integration rules on time scores whose integrals are known."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from secant.integration import (
    Adaptive,
    GaussLegendre,
    RungeKutta,
    SecantSteps,
    Trapezoid,
    quickly_compiled_steps,
    self_check,
    tangents,
)
from secant.models import SecantFunction

pytestmark = pytest.mark.usefixtures("float64")

X = np.array([[0.5, -1.0], [2.0, 0.3], [-1.0, 1.0]])
SCALE = X.sum(axis=1)


class Power(SecantFunction):
    """s(x, t) = (Σ x) t^k, with its exact secants or, spoilt, with ones that do not add."""

    degree: int
    spoilt: float = 0.0

    def parts(self, x, l, t):
        # Horner form of (t^{k+1} − l^{k+1}) / ((k+1)(t − l)): no division by t − l.
        mean = sum(t**i * l ** (self.degree - i) for i in range(self.degree + 1))
        mean = mean / (self.degree + 1) + self.spoilt * (t - l)
        return jnp.sum(x, axis=-1, keepdims=True) * mean[:, None]

    def time_score(self, x, t):
        return jnp.sum(x, axis=-1) * t**self.degree

    @property
    def secant_evaluations(self):
        return 3


class Wave(SecantFunction):
    """s(x, t) = (Σ x) cos ωt."""

    frequency: float

    def parts(self, x, l, t):
        raise AssertionError("a rule of time scores asked for a secant")

    def time_score(self, x, t):
        return jnp.sum(x, axis=-1) * jnp.cos(self.frequency * t)

    def integral(self, l, t):
        return SCALE * (np.sin(self.frequency * t) - np.sin(self.frequency * l)) / self.frequency


def power_integral(degree, l=0.0, t=1.0):
    return SCALE * (t ** (degree + 1) - l ** (degree + 1)) / (degree + 1)


@pytest.mark.parametrize("rule", [SecantSteps, quickly_compiled_steps])
@pytest.mark.parametrize("n_steps", [1, 2, 7])
def test_steps_over_exact_secants_are_exact(n_steps, rule):
    integral = rule(n_steps)(Power(4), X)
    np.testing.assert_allclose(integral.value, power_integral(4), rtol=1e-13)
    assert integral.evaluations == 3 * n_steps
    assert math.isnan(integral.error)


def test_steps_take_any_interval():
    integral = SecantSteps(3)(Power(2), X, 0.2, 0.7)
    np.testing.assert_allclose(integral.value, power_integral(2, 0.2, 0.7), rtol=1e-13)


def test_trapezoid_is_exact_for_lines_and_errs_as_it_should_beyond():
    line = Trapezoid(4)(Power(1), X, 0.2, 0.8)
    np.testing.assert_allclose(line.value, power_integral(1, 0.2, 0.8), rtol=1e-13)
    # ∫ t²: the error is (t − l) h²/12 · f″ with f″ = 2.
    parabola = Trapezoid(4)(Power(2), X, 0.2, 0.8)
    excess = np.asarray(parabola.value) - power_integral(2, 0.2, 0.8)
    np.testing.assert_allclose(excess, SCALE * 0.6 * 0.2**2 / 6, rtol=1e-10)
    assert parabola.evaluations == 4


@pytest.mark.parametrize("n", [1, 2, 4])
def test_gauss_is_exact_to_degree_2n_minus_1_and_errs_as_it_should_beyond(n):
    rule = GaussLegendre(n)
    exact = rule(Power(2 * n - 1), X, 0.1, 0.9)
    np.testing.assert_allclose(exact.value, power_integral(2 * n - 1, 0.1, 0.9), rtol=1e-12)
    assert exact.evaluations == n
    # The remainder is (b−a)^{2n+1} (n!)⁴ / ((2n+1) ((2n)!)³) · f^{(2n)}, f^{(2n)} = (2n)! here.
    remainder = 0.8 ** (2 * n + 1) * math.factorial(n) ** 4
    remainder /= (2 * n + 1) * math.factorial(2 * n) ** 2
    short = power_integral(2 * n, 0.1, 0.9) - np.asarray(rule(Power(2 * n), X, 0.1, 0.9).value)
    np.testing.assert_allclose(short, SCALE * remainder, rtol=1e-6)


def test_adaptive_meets_its_tolerance_and_counts_all_it_spent():
    wave = Wave(30.0)
    integral = Adaptive(tolerance=1e-6)(wave, X, 0.1, 0.9)
    assert np.max(np.abs(np.asarray(integral.value) - wave.integral(0.1, 0.9))) < 1e-6
    assert integral.error <= 1e-6
    assert integral.evaluations in {4 + 8 + 16, 4 + 8 + 16 + 32, 4 + 8 + 16 + 32 + 64}


def test_adaptive_stops_early_where_time_scores_are_smooth():
    integral = Adaptive()(Power(3), X)
    assert integral.evaluations == 4 + 8
    np.testing.assert_allclose(integral.value, power_integral(3), rtol=1e-12)


def test_adaptive_admits_that_it_gave_up():
    integral = Adaptive(tolerance=1e-6, max_evaluations=8)(Wave(60.0), X)
    assert integral.evaluations == 4 + 8
    assert integral.error > 1e-6


def test_runge_kutta_meets_its_tolerance_and_counts_every_call():
    wave = Wave(10.0)
    found = {tol: RungeKutta(tolerance=tol)(wave, X, 0.1, 0.9) for tol in (1e-3, 1e-6)}
    for tolerance, integral in found.items():
        gap = np.max(np.abs(integral.value - wave.integral(0.1, 0.9)))
        assert gap < 10 * tolerance  # the tolerance is that of one step
    assert 8 <= found[1e-3].evaluations < found[1e-6].evaluations


def test_a_tangent_is_one_time_score_a_row():
    times = np.linspace(0.0, 1.0, len(X))
    integral = tangents(Power(2), np.column_stack([X, times]))
    np.testing.assert_allclose(integral.value, SCALE * times**2, rtol=1e-14)
    assert integral.evaluations == 1


def test_self_check_is_zero_for_secants_that_add():
    check = self_check(Power(4), X, n_steps=4)
    assert abs(check.mean) < 1e-13
    assert check.root_mean_square < 1e-13
    assert check.evaluations == 3 * (1 + 2 * 4)


def test_self_check_measures_secants_that_do_not_add():
    # The spoilt secant adds c (t − l)²: c in one step, c/8 in eight.
    check = self_check(Power(4, spoilt=0.3), X, n_steps=4)
    gap = 0.3 * (1 - 1 / 8) * SCALE
    assert check.mean == pytest.approx(gap.mean(), rel=1e-10)
    assert check.root_mean_square == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-10)


@pytest.mark.parametrize(
    ("rule", "n", "message"),
    [
        (SecantSteps, 0, r"SecantSteps needs at least 1 step\(s\); got 0"),
        (Trapezoid, 1, r"Trapezoid needs at least 2 step\(s\); got 1"),
        (GaussLegendre, 0, r"GaussLegendre needs at least 1 step\(s\); got 0"),
        (lambda n: Adaptive(max_evaluations=n), 7, r"Adaptive needs at least 8 step\(s\); got 7"),
        (RungeKutta, 0.0, r"RungeKutta needs tolerance > 0; got 0\.0"),
        (Adaptive, 0.0, r"Adaptive needs tolerance > 0; got 0\.0"),
    ],
)
def test_bad_settings_are_named(rule, n, message):
    with pytest.raises(ValueError, match=message):
        rule(n)
