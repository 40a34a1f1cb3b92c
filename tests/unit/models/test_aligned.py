"""The aligned secant: a network of (x, features of t, features of t − l)."""

import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit, tree_at
from tests.laws.registry import randomised

from secant.models import AlignedSecant, ModulatedMLP, ResidualMLP
from secant.models.embedding import time_features

pytestmark = pytest.mark.usefixtures("float64")

N, D = 4, 3


def built(**settings):
    return randomised(AlignedSecant(ResidualMLP(5, 1), **settings), D)


def points():
    rng = np.random.default_rng(0)
    l, t = np.sort(rng.uniform(size=(2, N)), axis=0)
    return rng.standard_normal((N, D)), l, t


def features(t, k):
    angles = np.pi * np.arange(1, k + 1) * t
    return np.concatenate([[2 * t - 1], np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize("n_frequencies", [0, 1, 3])
def test_time_features_are_slow_waves(n_frequencies):
    computed = filter_jit(time_features)(jnp.asarray(0.3), n_frequencies)
    np.testing.assert_allclose(computed, features(0.3, n_frequencies), rtol=1e-12)


def test_secant_is_the_trunk_of_point_end_and_length():
    model, (x, l, t) = built(n_frequencies=3), points()
    row = np.concatenate([x[1], features(float(t[1]), 3), features(float(t[1] - l[1]), 3)])
    expected = filter_jit(model.trunk)(row)[0]
    np.testing.assert_allclose(filter_jit(model.secant)(x, l, t)[1], expected, rtol=1e-12)


def test_time_score_is_the_secant_over_nothing():
    model, (x, _, t) = built(), points()
    np.testing.assert_array_equal(
        filter_jit(model.time_score)(x, t), filter_jit(model.secant)(x, t, t)
    )


@pytest.mark.parametrize(("vectorised", "n_parts"), [(False, 1), (True, D)])
def test_vectorised_model_has_a_part_a_coordinate(vectorised, n_parts):
    model, (x, l, t) = built(vectorised=vectorised), points()
    parts = filter_jit(model.parts)(x, l, t)
    assert parts.shape == (N, n_parts)
    secant = filter_jit(model.secant)(x, l, t)
    np.testing.assert_allclose(secant, np.sum(parts, axis=1), rtol=1e-12)


def test_a_free_secant_is_not_additive():
    # Nothing but training ties its secants together, which is why self_check exists.
    model, (x, l, t) = built(), points()
    m = 0.5 * (l + t)
    secant = filter_jit(model.secant)
    first, second, whole = (np.asarray(secant(x, *ends)) for ends in ((l, m), (m, t), (l, t)))
    gap = (t - l) * whole - (m - l) * first - (t - m) * second
    assert np.max(np.abs(gap)) > 1e-3


def test_a_bad_number_of_frequencies_is_named():
    with pytest.raises(ValueError, match=r"n_frequencies >= 0 .*got -1, 0"):
        AlignedSecant(n_frequencies=-1)


def test_features_of_an_order_are_means_over_the_interval():
    model, (x, l, t) = randomised(AlignedSecant(ResidualMLP(5, 1), order=3), D), points()
    # Means of √3 y and √5 (3 y² − 1)/2, y = 2τ − 1, from their antiderivatives.
    y, z = 2 * l - 1, 2 * t - 1
    first = np.sqrt(3) * (z**2 - y**2) / 2 / (z - y)
    second = np.sqrt(5) * ((z**3 - z) - (y**3 - y)) / 2 / (z - y)
    row = np.concatenate([x[1], [first[1], second[1]]])
    expected = filter_jit(model.trunk)(row)[0]
    np.testing.assert_allclose(filter_jit(model.secant)(x, l, t)[1], expected, rtol=1e-9)


def test_a_modulated_secant_without_its_layer_of_time_is_additive():
    # With the head alone linear in means over [l, t], its secants are those of a polynomial.
    model, (x, l, t) = randomised(AlignedSecant(ModulatedMLP(5, 1), order=4), D), points()
    trunk = model.trunk
    still = tree_at(
        lambda m: (m.trunk.scale, m.trunk.shift), model, (0 * trunk.scale, 0 * trunk.shift)
    )
    m = 0.3 * l + 0.7 * t

    def gap(model):
        secant = filter_jit(model.secant)
        first, second, whole = (np.asarray(secant(x, *ends)) for ends in ((l, m), (m, t), (l, t)))
        return np.max(np.abs((t - l) * whole - (m - l) * first - (t - m) * second))

    assert gap(still) < 1e-12
    assert gap(model) > 1e-4
