"""Telescoping heads: their sum is the log ratio, and every waymark is where it should be."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from secant.models import Shifted, TelescopingHeads
from secant.models.telescoping import TelescopingFunction

X = np.zeros((3, 2))


class Numbers(eqx.Module):
    """The logits 1, 10, 100, 1000 at every row."""

    def __call__(self, x):
        return jnp.asarray([1.0, 10.0, 100.0, 1000.0])


MODEL = TelescopingFunction(Numbers(), 4)


@eqx.filter_jit
def secant(model, x, l, t):
    return model.secant(x, l, t)


@eqx.filter_jit
def time_score(model, x, t):
    return model.time_score(x, t)


def rise(l, t):
    """log p_t − log p_l."""
    return (t - l) * np.asarray(secant(MODEL, X, np.full(3, l), np.full(3, t)))


@pytest.mark.parametrize(
    ("l", "t", "expected"),
    [(0.0, 1.0, 1111.0), (0.0, 0.25, 1.0), (0.25, 0.75, 110.0), (0.375, 0.5, 5.0)],
)
def test_rise_is_the_sum_of_the_bridges_crossed(l, t, expected):
    np.testing.assert_allclose(rise(l, t), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("t", "expected"), [(0.0, 4.0), (0.3, 40.0), (0.99, 4000.0), (1.0, 4000.0)]
)
def test_time_score_is_the_slope_of_its_bridge(t, expected):
    np.testing.assert_allclose(time_score(MODEL, X, np.full(3, t)), expected, rtol=1e-6)


def test_no_bridge_is_refused():
    with pytest.raises(ValueError, match="n_bridges >= 1; got 0"):
        TelescopingHeads(0)


def test_shift_takes_a_constant_off_every_answer():
    shifted = Shifted(MODEL, jnp.asarray(5.0))
    ends = np.zeros(3), np.ones(3)
    np.testing.assert_allclose(secant(shifted, X, *ends), 1106.0, rtol=1e-6)
    np.testing.assert_allclose(time_score(shifted, X, ends[0]), -1.0, rtol=1e-6)
    inside = np.full(3, 0.9)  # at a waymark the slope has a jump
    implied = eqx.filter_jit(shifted.implied_tangent)(X, ends[0], inside)
    np.testing.assert_allclose(implied, 4000.0 - 5.0, rtol=1e-5)
    assert shifted.secant_evaluations == 1
