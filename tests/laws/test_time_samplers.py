"""What every time sampler must satisfy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.registry import TIME_SAMPLERS

pytestmark = [
    pytest.mark.usefixtures("float64"),
    pytest.mark.parametrize("sampler", TIME_SAMPLERS.values(), ids=TIME_SAMPLERS),
]

# Midpoints of cells that divide the table's: exact for steps, spectral for what dies at the ends.
CELLS = 512 * 8
MIDDLES = (np.arange(CELLS) + 0.5) / CELLS


def test_density_integrates_to_one(sampler):
    density = np.asarray(filter_jit(sampler().density)(MIDDLES))
    assert (density >= 0).all()
    assert density.mean() == pytest.approx(1.0, abs=1e-9)


def test_quantile_inverts_the_integrated_density(sampler):
    made = sampler()

    @filter_jit
    def slope(share):
        t, rate = jax.jvp(made.quantile, (share,), (jnp.ones_like(share),))
        return t, rate * made.density(t)

    # Inside the strata of a table of 512 cells, so that no point falls on an edge.
    shares = np.linspace(0.003, 0.997, 101)
    t, product = slope(shares)
    np.testing.assert_allclose(product, 1.0, rtol=1e-9)  # dF(Q(p)) = dp
    assert (np.diff(t) > 0).all()
    ends = np.asarray(filter_jit(made.quantile)(np.array([0.0, 1.0])))
    np.testing.assert_allclose(ends, [0.0, 1.0], atol=1e-12)  # and F(Q(0)) = 0


def test_samples_are_increasing_times(sampler):
    made, key = sampler(), jax.random.key(0, impl="rbg")
    t = np.asarray(filter_jit(lambda key: made.sample(key, 64))(key))
    assert (np.diff(t) >= 0).all()
    assert ((t >= 0) & (t <= 1)).all()
