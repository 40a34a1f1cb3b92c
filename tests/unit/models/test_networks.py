"""The residual network against the same sums written in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit
from tests.laws.registry import randomised

from secant.models import ModulatedMLP, ResidualMLP, TangentNetwork
from secant.models.networks import LinearLayer
from secant.sizing import modulated_trunk_for

pytestmark = pytest.mark.usefixtures("float64")


def key(seed=0):
    return jax.random.key(seed, impl="rbg")


@filter_jit
def built(builder, key):
    return builder.build(3, 2, key=key)


def silu(x):
    return x / (1 + np.exp(-x))


def by_hand(network, x):
    h = silu(x @ np.asarray(network.entry.weight) + np.asarray(network.entry.bias))
    for layer in network.layers:
        h = h + silu(h @ np.asarray(layer.weight) + np.asarray(layer.bias))
    if network.squares is not None:
        h = np.concatenate([h, (x @ np.asarray(network.squares)) ** 2])
    return h @ np.asarray(network.head.weight) + np.asarray(network.head.bias)


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("depth", [0, 2])
def test_network_is_the_documented_sum(depth, quadratic):
    network = randomised(ResidualMLP(5, depth, quadratic), 3, 2)
    x = np.array([0.3, -1.2, 2.0])
    assert len(network.layers) == depth
    np.testing.assert_allclose(filter_jit(network)(x), by_hand(network, x), rtol=1e-12)


@pytest.mark.parametrize("quadratic", [False, True])
def test_fresh_network_is_zero(quadratic):
    network = built(ResidualMLP(3, 2, quadratic), key())
    np.testing.assert_array_equal(filter_jit(network)(np.ones(3)), np.zeros(2))


def test_fresh_weights_are_centred_and_scaled_by_their_inputs():
    variances = []
    for n_in, n_out in ((10, 2000), (80, 250)):
        layer = filter_jit(lambda key, n=(n_in, n_out): LinearLayer.random(*n, key=key))(key())
        weight = np.asarray(layer.weight)
        assert abs(weight.mean()) < 4.5 * weight.std() / np.sqrt(weight.size)  # standard errors
        np.testing.assert_array_equal(layer.bias, 0.0)
        variances.append(n_in * weight.var())
    # n_in · Var is the same; each has the relative standard error √(2/20 000).
    error = np.sqrt(2 * 2 / 20_000)
    assert abs(np.log(variances[0] / variances[1])) < 4.5 * error


def test_quadratic_network_holds_a_quadratic_exactly():
    matrix = np.array([[1.0, 0.5], [0.5, -2.0]])
    eigenvalues, vectors = np.linalg.eigh(matrix)
    network = randomised(ResidualMLP(2, 0, quadratic=True), 2, 1)
    object.__setattr__(network, "squares", jnp.asarray(vectors))
    weight = np.concatenate([np.zeros(2), eigenvalues])[:, None]
    object.__setattr__(network, "head", LinearLayer(jnp.asarray(weight), jnp.zeros(1)))
    x = np.array([0.7, -1.1])
    np.testing.assert_allclose(filter_jit(network)(x)[0], x @ matrix @ x, rtol=1e-12)


def test_same_key_same_weights():
    first, again, other = (
        jax.tree.leaves(built(ResidualMLP(3, 2), key(seed))) for seed in (0, 0, 1)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], other[0])


def test_layers_do_not_share_their_draw():
    network = built(ResidualMLP(3, 2), key())
    weights = [network.entry.weight, *(layer.weight for layer in network.layers)]
    for i, a in enumerate(weights):
        for b in weights[i + 1 :]:
            assert not np.array_equal(a, b)


@pytest.mark.parametrize(("width", "depth"), [(0, 1), (4, -1)])
def test_bad_sizes_are_named(width, depth):
    with pytest.raises(ValueError, match=rf"width >= 1 and depth >= 0; got {width}, {depth}"):
        ResidualMLP(width, depth)


def test_modulated_network_scales_and_shifts_its_last_layer_and_weighs_its_outputs():
    d, n_times, n_out = 3, 2, 2
    network = ModulatedMLP(width=5, depth=2).build_timed(d, n_times, n_out, key=key())
    rng = np.random.default_rng(0)
    leaves, tree = jax.tree.flatten(network)
    network = jax.tree.unflatten(tree, [rng.standard_normal(np.shape(leaf)) for leaf in leaves])
    x, times = rng.standard_normal(d), rng.standard_normal(n_times)
    h = silu(x @ network.entry.weight + network.entry.bias)
    first, last = network.layers
    h = h + silu(h @ first.weight + first.bias)
    bent = (h @ last.weight + last.bias) * (1 + times @ network.scale) + times @ network.shift
    heads = ((h + silu(bent)) @ network.head.weight + network.head.bias).reshape(n_out, -1)
    expected = heads @ np.concatenate([[1.0], times])
    np.testing.assert_allclose(filter_jit(network)(x, times), expected, rtol=1e-12)


def flops_of_a_step(builder, d=20):
    """Of the gradient of (V1), which is what a step costs."""
    model = builder.build(d, key=key())
    rows = np.random.default_rng(0).standard_normal((64, d))
    t = np.linspace(0.1, 0.9, 64)

    def loss(model):
        value, along = jax.jvp(lambda x: model.time_score(x, t), (rows,), (rows,))
        return jnp.mean(value**2 - 2 * along)

    return jax.jit(jax.grad(loss)).lower(model).compile().cost_analysis()["flops"]


def test_modulation_costs_little():
    plain, modulated = (
        flops_of_a_step(TangentNetwork(trunk(width=64))) for trunk in (ResidualMLP, ModulatedMLP)
    )
    assert modulated < 1.3 * plain


def test_without_features_of_time_a_modulated_network_is_a_residual_one():
    plain, modulated = (built(t(width=4), key()) for t in (ResidualMLP, ModulatedMLP))
    assert jax.tree.structure(plain) == jax.tree.structure(modulated)


@pytest.mark.parametrize("n_in", [2, 8, 160])
def test_a_first_layer_bends_sharply_in_few_columns_and_gently_in_many(n_in):
    n_out = 20_000
    layer = LinearLayer.bending(n_in, n_out, key=key())
    spread = 4.0 / np.sqrt(n_in)  # of x W for x of unit variance
    few = 4.0 * spread / np.sqrt(2.0 * n_out)  # four standard errors of a standard deviation
    rows = np.sqrt(np.mean(np.sum(np.asarray(layer.weight, dtype=np.float64) ** 2, axis=0)))
    assert rows == pytest.approx(spread, abs=few)
    off_origin = spread - np.sqrt(0.5) if n_in < 32 else 0.0
    assert np.asarray(layer.bias).std() == pytest.approx(off_origin, abs=few)
    assert not np.array_equal(layer.weight[0], layer.bias)  # drawn by keys of their own


def test_many_columns_have_twice_the_width():
    assert modulated_trunk_for(1e6, 64) == ModulatedMLP(256)
    assert modulated_trunk_for(1e6, 65) == ModulatedMLP(512)
