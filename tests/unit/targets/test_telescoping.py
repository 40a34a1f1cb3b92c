"""Telescoping (R1): every bridge at rest at its own log ratio, waymarks where they should be."""

import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.oracle import Oracle, batch, oracle, slopes, z_scores

from secant.models import AlignedSecant, ResidualMLP
from secant.models.telescoping import TelescopingFunction
from secant.paths import DiffusionInterpolant
from secant.schedules import Foellmer
from secant.targets import (
    Batch,
    DimensionMixing,
    GeodesicMixing,
    LinearCombination,
    Telescoping,
)

pytestmark = pytest.mark.usefixtures("float64")

PATH = DiffusionInterpolant(Foellmer())
M = 3


@filter_jit
def placed(waymarks, rows, number, n_bridges=M):
    return waymarks(PATH, rows, number, n_bridges)


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


class TrueMixtures(TrueBridges):
    """The same between power means of the two densities, whose integrals are by quadrature."""

    power: float
    log_means: np.ndarray  # log ∫ of the unnormalised waymarks

    def pushed(self, theta):
        return TrueMixtures(None, M, self.oracle.pushed(theta), self.power, self.log_means)

    def bridges(self, x):
        push = jnp.sum(self.oracle.push(x, *(jnp.full(x.shape[0], 0.5),) * 2), axis=-1)
        density = log_power_means(self.oracle, x, self.power) - self.log_means
        return jnp.diff(density, axis=-1) + push[:, None] * jnp.asarray([0.0, 1.0, 0.0])


@filter_jit
def log_power_means(truth, x, power):
    """log ((1 − s) p_0^k + s p_1^k)^{1/k} for every waymark, s = m/M."""
    ends = [jnp.sum(truth.log_density(x, jnp.full(x.shape[0], float(t))), axis=-1) for t in (0, 1)]
    s = jnp.arange(M + 1) / M
    if power == 0.0:
        return (1 - s) * ends[0][:, None] + s * ends[1][:, None]
    zero, one = (power * end[:, None] for end in ends)
    return jnp.logaddexp(jnp.log1p(-s) + zero, jnp.log(s) + one) / power


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_bridges_between_power_means_rest_at_their_own_log_ratios(power):
    # (R2): weights by the model's own ratio are right where the model is.
    truth = Oracle(PATH, np.zeros(2), np.ones(2), np.full(2, 0.8), np.full(2, 0.7), np.zeros(5))
    grid = np.linspace(-9.0, 9.0, 301)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    cell = (grid[1] - grid[0]) ** 2
    log_means = np.log(np.exp(log_power_means(truth, points, power)).sum(axis=0) * cell)
    np.testing.assert_allclose(log_means[[0, -1]], 0.0, atol=1e-6)  # densities, to begin with
    model = TrueMixtures(None, M, truth, power, log_means)
    drawn = batch(truth, n=30_000)._replace(t=np.random.default_rng(0).uniform(size=30_000))
    for theta, at_rest in ((0.0, True), (0.3, False)):
        target = Telescoping(GeodesicMixing(power))
        z = z_scores(slopes(target, model, PATH, drawn, np.full(5, theta)))
        assert (np.abs(z) < 4.5).all() == at_rest  # standard errors


def test_mixtures_take_whole_rows_as_often_as_they_should():
    n = 30_000
    given = Batch(np.zeros((n, 2)), np.ones((n, 2)), *np.zeros((2, n)), None)
    given = given._replace(t=np.random.default_rng(0).uniform(size=n))
    found = np.asarray(placed(GeodesicMixing(), given, np.full(n, 1)))
    assert (found[:, 0] == found[:, 1]).all()
    assert abs(found[:, 0].mean() - 1 / M) < 4.5 * np.sqrt(1 / M * (1 - 1 / M) / n)


@pytest.mark.parametrize("power", [-0.1, 1.1, float("nan")])
def test_powers_beyond_the_mixture_are_refused(power):
    with pytest.raises(ValueError, match="0 <= power <= 1"):
        GeodesicMixing(power)


def rows(n=4, d=5):
    rng = np.random.default_rng(0)
    return Batch(*rng.normal(size=(3, n, d)), *np.zeros((2, n)))


@pytest.mark.parametrize(
    "waymarks", [LinearCombination(), DimensionMixing(), GeodesicMixing()], ids=repr
)
def test_waymarks_begin_and_end_at_the_samples(waymarks):
    given = rows()
    for number, end in ((0, given.x_0), (M, given.x_1)):
        found = placed(waymarks, given, np.full(4, number))
        # Föllmer's α ends at 1e-8, not at 0, which keeps its rate finite.
        np.testing.assert_allclose(found, end, atol=1e-7)


def test_linear_combination_is_the_path():
    given = rows()
    found = placed(LinearCombination(), given, np.full(4, 2), 4)
    np.testing.assert_allclose(found, np.sqrt(0.75) * given.x_0 + 0.5 * given.x_1, rtol=1e-12)


def test_dimension_mixing_swaps_the_first_columns():
    given = rows()
    found = placed(DimensionMixing(), given, np.array([0, 1, 2, 3]))
    for row, n_swapped in enumerate((0, 2, 3, 5)):  # 5/3 and 10/3 rounded
        np.testing.assert_array_equal(found[row, :n_swapped], given.x_1[row, :n_swapped])
        np.testing.assert_array_equal(found[row, n_swapped:], given.x_0[row, n_swapped:])


def test_other_models_are_refused():
    model = AlignedSecant(ResidualMLP(4, 0)).build(5, key=jnp.zeros(2, dtype=jnp.uint32))
    with pytest.raises(TypeError, match="Telescoping trains TelescopingHeads"):
        Telescoping().losses(model, PATH, rows())
