"""Invertible maps leave ratio and divergences unchanged."""

from collections.abc import Callable

import jax
import numpy as np
import pytest
from jaxtyping import Array, PRNGKeyArray

from secant.datasets import (
    asinh,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    narrow_gaussian,
    through,
)

Map = Callable[[Array], Array]
MAPS = {"half_cube": (half_cube, inverse_half_cube), "asinh": (asinh, inverse_asinh)}


@pytest.fixture(params=MAPS)
def maps(request: pytest.FixtureRequest) -> tuple[Map, Map]:
    """Every map with its inverse."""
    return MAPS[request.param]


@pytest.mark.usefixtures("float64")
def test_inverse_undoes_forward_both_ways(maps: tuple[Map, Map]) -> None:
    forward, inverse = maps
    x = np.concatenate([np.linspace(-30, 30, 601), [0.0, 1e-8, -1e-8]])
    np.testing.assert_allclose(inverse(forward(x)), x, rtol=1e-12, atol=1e-20)
    np.testing.assert_allclose(forward(inverse(x)), x, rtol=1e-12, atol=1e-20)


@pytest.mark.usefixtures("float64")
def test_values() -> None:
    x = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(half_cube(x), np.sign(x) * np.abs(x) ** 1.5, rtol=1e-12)
    np.testing.assert_allclose(asinh(x), np.log(x + np.sqrt(x**2 + 1)), rtol=1e-12)


@pytest.mark.usefixtures("float64")
def test_log_ratio_is_unchanged(maps: tuple[Map, Map], key: PRNGKeyArray) -> None:
    pair = narrow_gaussian(3, shift=1.0, scale=0.5)
    mapped = through(pair, *maps, "mapped")
    for draw, mapped_draw in ((pair.draw_0, mapped.draw_0), (pair.draw_1, mapped.draw_1)):
        x, y = draw(key, 100), mapped_draw(key, 100)
        np.testing.assert_allclose(y, maps[0](x), rtol=1e-12)
        np.testing.assert_allclose(mapped.log_ratio(y), pair.log_ratio(x), rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("float64")
def test_log_ratio_agrees_with_the_change_of_variables(maps: tuple[Map, Map]) -> None:
    # log p_Y(y) = log p_X(f⁻¹ y) + Σ log |∂f⁻¹|, by autodiff, for each density apart.
    mapped = through(narrow_gaussian(2, shift=1.0, scale=0.5), *maps, "mapped")
    y = np.random.default_rng(0).standard_normal((20, 2))
    x = maps[1](y)
    slopes = jax.jvp(maps[1], (y,), (np.ones_like(y),))[1]
    log_jacobian = np.log(np.abs(slopes)).sum(axis=1)
    log_p_0 = -0.5 * (x**2).sum(axis=1) + log_jacobian
    z = (x - 1 / np.sqrt(2)) / 0.5
    log_p_1 = -0.5 * (z**2).sum(axis=1) - 2 * np.log(0.5) + log_jacobian
    np.testing.assert_allclose(mapped.log_ratio(y), log_p_1 - log_p_0, rtol=1e-9, atol=1e-9)


def test_divergences_and_name_are_carried(maps: tuple[Map, Map]) -> None:
    pair = narrow_gaussian(3)
    mapped = through(pair, *maps, "mapped")
    assert (mapped.kl, mapped.reverse_kl) == (pair.kl, pair.reverse_kl)
    assert (mapped.name, mapped.n_features) == ("mapped", 3)
