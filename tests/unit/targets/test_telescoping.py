"""Telescoping (R1): every bridge at rest at its own log ratio, waymarks where they should be."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.laws.oracle import Oracle, batch, oracle, slopes, z_scores

from secant.models import AlignedSecant, ResidualMLP
from secant.models.telescoping import TelescopingFunction
from secant.paths import DiffusionInterpolant
from secant.schedules import Foellmer
from secant.targets import Batch, DimensionMixing, LinearCombination, Telescoping

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionInterpolant(Foellmer())
M = 3


class TrueBridges(TelescopingFunction):
    """log p_{(m+1)/M} − log p_{m/M} in closed form, pushed off by θ in the middle bridge."""

    oracle: Oracle

    def pushed(self, theta):
        return TrueBridges(None, M, self.oracle.pushed(theta))

    def bridges(self, x):
        times = [jnp.full(x.shape[0], m / M) for m in range(M + 1)]
        density = jnp.stack([jnp.sum(self.oracle.log_density(x, t), axis=-1) for t in times], -1)
        push = jnp.sum(self.oracle.push(x, *(jnp.full(x.shape[0], 0.5),) * 2), axis=-1)
        return jnp.diff(density, axis=-1) + push[:, None] * jnp.asarray([0.0, 1.0, 0.0])


def test_every_bridge_rests_at_its_own_log_ratio():
    truth = oracle(PATH)
    model, rows = TrueBridges(None, M, truth), batch(truth, n=30_000)
    for theta, at_rest in ((0.0, True), (0.3, False)):
        z = z_scores(slopes(Telescoping(), model, PATH, rows, np.full(5, theta)))
        assert (np.abs(z) < 4.5).all() == at_rest  # standard errors


def rows(n=4, d=5):
    rng = np.random.default_rng(0)
    return Batch(*rng.normal(size=(3, n, d)), *np.zeros((2, n)))


@pytest.mark.parametrize("waymarks", [LinearCombination(), DimensionMixing()], ids=repr)
def test_waymarks_begin_and_end_at_the_samples(waymarks):
    given = rows()
    for number, end in ((0, given.x_0), (M, given.x_1)):
        found = waymarks(PATH, given, np.full(4, number), M)
        # Föllmer's α ends at 1e-8, not at 0, which keeps its rate finite.
        np.testing.assert_allclose(found, end, atol=1e-7)


def test_linear_combination_is_the_path():
    given = rows()
    found = LinearCombination()(PATH, given, np.full(4, 2), 4)
    np.testing.assert_allclose(found, np.sqrt(0.75) * given.x_0 + 0.5 * given.x_1, rtol=1e-12)


def test_dimension_mixing_swaps_the_first_columns():
    given = rows()
    found = DimensionMixing()(PATH, given, np.array([0, 1, 2, 3]), 3)
    for row, n_swapped in enumerate((0, 2, 3, 5)):  # 5/3 and 10/3 rounded
        np.testing.assert_array_equal(found[row, :n_swapped], given.x_1[row, :n_swapped])
        np.testing.assert_array_equal(found[row, n_swapped:], given.x_0[row, n_swapped:])


def test_other_models_are_refused():
    model = AlignedSecant(ResidualMLP(4, 0)).build(5, key=jnp.zeros(2, dtype=jnp.uint32))
    with pytest.raises(TypeError, match="Telescoping trains TelescopingHeads"):
        Telescoping().losses(model, PATH, rows())
