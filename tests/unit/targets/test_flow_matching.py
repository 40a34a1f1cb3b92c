import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from secant.models import GaussianAnchor
from secant.paths import DiffusionInterpolant
from secant.targets.batch import Batch
from secant.targets.flow_matching import FlowMatching

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionInterpolant()
COVARIANCE = np.array([[1.0, 0.6], [0.6, 1.0]])


class Tilted(eqx.Module):
    """The mean velocity of two Gaussians, plus a multiple of x."""

    tilt: jax.Array

    def __call__(self, x, t):
        zero, identity = np.zeros(2), np.eye(2)
        anchor = GaussianAnchor.fitted(zero, identity, zero, COVARIANCE, PATH)
        return anchor.mean_velocity(x, t) + self.tilt * x


def batch(n=40_000):
    rng = np.random.default_rng(0)
    x_0, z, t = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.uniform(size=n)
    return Batch(x_0, z @ np.linalg.cholesky(COVARIANCE).T, np.zeros((n, 2)), t, t)


def test_the_loss_is_least_at_the_mean_velocity():
    given = batch()
    slope = jax.jit(jax.jacfwd(lambda a: FlowMatching().losses(Tilted(a), PATH, given)))
    slopes, off = (np.asarray(slope(tilt)) for tilt in (0.0, 0.1))
    assert abs(slopes.mean()) < 4.0 * slopes.std() / np.sqrt(slopes.size)
    assert off.mean() > 10.0 * off.std() / np.sqrt(off.size)


def test_the_loss_is_the_squared_distance():
    given = batch(3)

    @jax.jit
    def both():
        x_t, velocity = PATH.point(given.x_0, given.x_1, given.z, given.t)
        model = Tilted(jnp.zeros(()))
        by_hand = jnp.sum((model(x_t, given.t) - velocity) ** 2, axis=1)
        return FlowMatching().losses(model, PATH, given), by_hand

    np.testing.assert_allclose(*both())
