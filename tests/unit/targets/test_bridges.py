"""The bridge loss (K2): least at the true secant, the logistic loss where there is one bridge."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import batch, oracle

from secant.paths import DiffusionInterpolant
from secant.targets.bridges import BRIDGES, bridge_loss

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionInterpolant()
TRUTH = oracle(PATH, standard=False)
ROWS = batch(TRUTH, n=40_000)


def loss(model, n_bridges):
    return bridge_loss(
        model, PATH, ROWS.x_0, ROWS.x_1, jnp.asarray(n_bridges), key=jax.random.key(0)
    )


@pytest.mark.parametrize("n_bridges", BRIDGES)
def test_least_at_the_true_secant(n_bridges):
    best = loss(TRUTH, n_bridges)
    for direction in np.eye(5)[:4]:
        for sign in (-1.0, 1.0):
            assert loss(TRUTH.pushed(sign * 0.3 * direction), n_bridges) > best


def test_one_bridge_is_the_logistic_loss_of_the_log_ratio():
    ends, secant = (np.zeros(40_000), np.ones(40_000)), filter_jit(TRUTH.secant)
    on_0, on_1 = (np.asarray(secant(x, *ends)) for x in (ROWS.x_0, ROWS.x_1))
    expected = np.mean(np.logaddexp(0, on_0)) + np.mean(np.logaddexp(0, -on_1))
    np.testing.assert_allclose(loss(TRUTH, 1), expected, rtol=1e-9)


def test_short_bridges_tell_less():
    # log 4 is the loss of a coin: the shorter the interval, the nearer.
    values = [float(loss(TRUTH, m)) for m in BRIDGES]
    assert values == sorted(values)
    assert values[-1] < np.log(4.0)
