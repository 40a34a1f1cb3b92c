"""The trunk of waves: its paces, and fine structure that a plain network misses."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from secant.models import FourierMLP, ResidualMLP


@pytest.mark.parametrize("n_in", [1, 2, 50])
def test_phases_spread_over_the_same_paces_in_any_dimension(n_in):
    trunk = FourierMLP(8, n_waves=2000).build(n_in, 1, key=jax.random.key(0))
    # Column k of the waves has standard deviation pace_k/√d: E‖b_k‖² = pace_k².
    found = np.sqrt(np.mean(np.asarray(trunk.waves) ** 2) * n_in)
    paces = np.geomspace(0.5, 6.0, 2000)
    assert found == pytest.approx(np.sqrt(np.mean(paces**2)), rel=0.1)


def test_it_starts_at_zero_and_its_waves_stay():
    trunk = FourierMLP(8).build(2, 3, key=jax.random.key(0))

    @jax.jit
    def answer_and_gradient(trunk):
        slope = jax.grad(lambda t: t(jnp.ones(2)).sum() + t.waves.sum() * 0.0)(trunk)
        return trunk(jnp.ones(2)), slope.waves

    answer, gradient = answer_and_gradient(trunk)
    np.testing.assert_array_equal(answer, np.zeros(3))
    np.testing.assert_array_equal(gradient, np.zeros_like(gradient))


def test_it_learns_a_fine_wave_that_a_plain_network_of_its_size_does_not():
    x = np.random.default_rng(0).normal(size=(512, 1)).astype(np.float32)
    y = np.sin(6.0 * x[:, 0])

    def error(builder):
        trunk = builder.build(1, 1, key=jax.random.key(1))
        optimiser = optax.adam(3e-3)

        def loss(trunk):
            return jnp.mean((jax.vmap(trunk)(x)[:, 0] - y) ** 2)

        def step(state, _):
            trunk, memory = state
            value, slope = jax.value_and_grad(loss)(trunk)
            updates, memory = optimiser.update(slope, memory)
            return (optax.apply_updates(trunk, updates), memory), value

        def trained(trunk):
            return jax.lax.scan(step, (trunk, optimiser.init(trunk)), None, 300)[1][-1]

        return float(jax.jit(trained)(trunk))

    assert error(FourierMLP(32)) < 0.1 * error(ResidualMLP(32))


@pytest.mark.parametrize(
    "settings", [{"width": 0}, {"n_waves": 0}, {"slowest": 0.0}, {"slowest": 3.0, "fastest": 2.0}]
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match="FourierMLP needs"):
        FourierMLP(**settings)
