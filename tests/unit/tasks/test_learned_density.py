"""The densities along the path end at the density that is scored."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.fabricated import fabricated

from secant import ISADRE
from secant.bases import FullGaussian
from secant.models import AlignedSecant, ModulatedMLP
from secant.tasks.learned_density import LearnedDensity


@pytest.fixture(scope="module")
def density():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 2)) @ np.array([[1.0, 0.4], [0.0, 0.7]]) + 1.0
    base = FullGaussian().fitted(rows, 0)
    ratio = ISADRE(AlignedSecant(ModulatedMLP(8, depth=2)), random_state=0)
    start = base.sample(jax.random.key(1), 600)
    return LearnedDensity(base, fabricated(ratio, start, base.coordinates(rows)))


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_the_annealed_density_ends_where_the_scored_one_is(density, n_steps):
    density.ratio.n_steps = n_steps
    y = np.asarray(density.base.sample(jax.random.key(2), 50))
    at_end = density._path(jnp.asarray(y), jnp.asarray(1.0)) - density.base.reference_log_prob(y)
    np.testing.assert_allclose(at_end, density.ratio.log_ratio(y), rtol=1e-4, atol=1e-4)


def test_numbers_of_evaluations_differ(density):
    y = np.asarray(density.base.sample(jax.random.key(2), 50))
    density.ratio.n_steps = 1
    one = density.ratio.log_ratio(y)
    density.ratio.n_steps = 5
    assert np.abs(density.ratio.log_ratio(y) - one).max() > 0.01


def test_the_path_starts_at_the_base(density):
    y = np.asarray(density.base.sample(jax.random.key(2), 50))
    at_start = density._path(jnp.asarray(y), jnp.asarray(0.0))
    np.testing.assert_allclose(at_start, density.base.reference_log_prob(y), rtol=1e-5)
