"""Direct losses (D0): at rest at the true log ratio, stable far from it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.laws.oracle import batch, oracle, slope_z

from secant.models import SecantFunction
from secant.paths import DiffusionInterpolant
from secant.targets import Batch, DonskerVaradhan, InfoNCE, Logistic

PATH = DiffusionInterpolant()


@pytest.mark.usefixtures("float64")
def test_slope_vanishes_at_the_true_log_ratio_and_not_beside_it():
    truth = oracle(PATH, standard=False)
    rows = batch(truth)
    z = slope_z(Logistic(), truth, rows)
    np.testing.assert_array_equal(z[4], 0.0)  # the direction l x² is 0 at l = 0
    assert (np.abs(z) < 4.5).all()  # standard errors
    assert (np.abs(slope_z(Logistic(), truth, rows, theta=0.3)[:4]) > 10).all()


class Constant(SecantFunction):
    """log r = c at every row."""

    value: jax.Array

    def parts(self, x, l, t):
        return jnp.broadcast_to(self.value, (x.shape[0], 1))

    def time_score(self, x, t):
        return jnp.broadcast_to(self.value, t.shape)


@pytest.mark.parametrize("logit", [0.0, 3.0, 100.0, -100.0, 1e4, -1e4])
def test_loss_and_slope_are_finite_and_right_in_single_precision(logit):
    rows = Batch(*np.zeros((3, 2, 1), np.float32), *np.zeros((2, 2), np.float32))

    @eqx.filter_jit
    def loss(value):
        return jnp.mean(Logistic().losses(Constant(value), PATH, rows))

    value, slope = jax.value_and_grad(loss)(jnp.float32(logit))
    expected = np.logaddexp(0, logit) + np.logaddexp(0, -logit)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    # σ(g) − σ(−g) = tanh(g/2)
    np.testing.assert_allclose(slope, np.tanh(logit / 2), rtol=1e-6, atol=1e-7)


def test_time_plays_no_part():
    assert Logistic().time_range(PATH) == (0.0, 1.0)


def test_softmax_of_infonce_counts_the_row_itself():
    on_0, on_1 = np.log([2.0, 3.0]), np.log([5.0, 1.0])
    rows = Batch(*np.zeros((3, 2, 1)), *np.zeros((2, 2)))
    found = InfoNCE().compared(jnp.asarray(on_0), jnp.asarray(on_1), rows)
    np.testing.assert_allclose(found, -np.log([5 / (5 + 2 + 3), 1 / (1 + 2 + 3)]), rtol=1e-6)


def test_bound_of_donsker_and_varadhan():
    on_0, on_1 = np.log([2.0, 4.0]), np.array([0.5, 1.5])
    rows = Batch(*np.zeros((3, 2, 1)), *np.zeros((2, 2)))
    found = DonskerVaradhan().compared(jnp.asarray(on_0), jnp.asarray(on_1), rows)
    np.testing.assert_allclose(np.mean(found), np.log(3.0) - 1.0, rtol=1e-6)
