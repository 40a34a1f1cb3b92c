"""The monotone spline (N1) against finite differences and its own inverse."""

import numpy as np
import pytest

from secant.bases import MonotoneSpline


@pytest.fixture
def spline():
    knots = np.array([-2.0, -0.5, 0.1, 0.15, 3.0])
    return MonotoneSpline.through(knots, np.array([-1.5, -1.2, 0.3, 0.9, 1.1]))


def everywhere():
    return np.linspace(-5.0, 6.0, 4001)


def test_it_goes_through_its_knots(spline):
    np.testing.assert_allclose(spline(spline.knots), spline.levels, rtol=0, atol=1e-14)


def test_the_inverse_undoes_it(spline):
    x = everywhere()
    np.testing.assert_allclose(spline.inverse(spline(x)), x, rtol=0, atol=1e-9)


def test_the_derivative_is_that_of_the_value(spline):
    x, h = everywhere() + 1e-4, 1e-6  # off the knots, where the second derivative jumps
    numeric = (spline(x + h) - spline(x - h)) / (2.0 * h)
    np.testing.assert_allclose(spline.derivative(x), numeric, rtol=2e-5)


def test_it_increases_though_its_chords_differ_fifty_fold(spline):
    assert spline.derivative(everywhere()).min() > 0.0


def test_the_derivative_is_continuous(spline):
    for knot in spline.knots:
        left, right = spline.derivative(np.array([knot - 1e-9, knot + 1e-9]))
        assert left == pytest.approx(right, rel=1e-5)


def test_it_is_a_line_beyond_its_knots(spline):
    x = np.array([3.0, 4.0, 5.0])
    np.testing.assert_allclose(np.diff(spline(x)), spline.slopes[-1], rtol=1e-12)
    np.testing.assert_allclose(np.diff(spline(-x)), -spline.slopes[0], rtol=1e-12)
