"""Annealing (N3) where mass and moments are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from secant.bases import StandardNormalReference
from secant.tasks.annealing import Annealing, annealed

REFERENCE = StandardNormalReference(5)
LOG_MASS = 1.7
SCALE = 0.2


class Shrinking(eqx.Module):
    """From N(0, I) to exp(LOG_MASS) · N(2, SCALE²), by the geometric path."""

    def __call__(self, y, t):
        gap = (y - 2.0) / SCALE
        end = LOG_MASS - 0.5 * jnp.sum(gap**2 + jnp.log(2 * jnp.pi * SCALE**2), axis=1)
        return (1.0 - t) * REFERENCE.log_prob(y) + t * end


@pytest.fixture(scope="module")
def found():
    return annealed(Shrinking(), REFERENCE.sample, Annealing(n_stages=100), key=jax.random.key(0))


def test_the_mass_is_found_where_plain_sampling_finds_none(found):
    rows = REFERENCE.sample(jax.random.key(1), 100_000)
    plain = Shrinking()(rows, 1.0) - REFERENCE.log_prob(rows)
    assert jax.nn.logsumexp(plain) - np.log(100_000) < LOG_MASS - 1.0
    assert found.standard_error < 0.2
    assert found.log_value == pytest.approx(LOG_MASS, abs=4.5 * found.standard_error)


def test_the_rows_have_the_moments_of_the_end(found):
    n = found.rows.shape[0]
    assert n == 8 * 512
    # Resampled rows are worth fewer than their number; a quarter is what they have to be worth.
    assert np.abs(found.rows.mean(axis=0) - 2.0).max() < 4.5 * SCALE / np.sqrt(n / 4)
    assert np.abs(found.rows.std(axis=0) - SCALE).max() < 4.5 * SCALE / np.sqrt(n / 2)


def test_one_key_one_answer():
    few = Annealing(n_stages=4, n_moves=1, n_rows=64, n_populations=2)
    one, two = (annealed(Shrinking(), REFERENCE.sample, few, key=jax.random.key(3)) for _ in "ab")
    assert one.log_value == two.log_value
    np.testing.assert_array_equal(one.rows, two.rows)


def test_as_many_populations_as_rows_call_for():
    assert Annealing(n_rows=100).for_rows(250).n_populations == 3
