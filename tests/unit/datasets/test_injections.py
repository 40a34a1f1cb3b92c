"""Maps that keep mutual information: their values, and that nothing is lost."""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from scipy import linalg, optimize, stats

from secant.datasets import (
    mixture_quantile_of_normal,
    normal_cdf,
    spiral,
    swiss_roll,
    wiggly_x,
    wiggly_y,
)

pytestmark = pytest.mark.usefixtures("float64")

MIXTURES = [((0.3, 0.7), (0.0, 5.0)), ((0.5, 0.5), (-1.0, 3.0))]


def rows(dim: int) -> np.ndarray:
    """Twenty rows of standard normals."""
    return np.random.default_rng(0).standard_normal((20, dim))


def test_normal_cdf_matches_scipy() -> None:
    z = np.linspace(-8, 8, 101)
    np.testing.assert_allclose(jax.jit(normal_cdf)(z), stats.norm.cdf(z), rtol=1e-12)


@pytest.mark.parametrize(("weights", "means"), MIXTURES)
def test_mixture_quantile_matches_a_root_finder(
    weights: tuple[float, ...], means: tuple[float, ...]
) -> None:
    def gap(w: float, z: float) -> float:
        return np.dot(weights, stats.norm.cdf(w - np.array(means))) - stats.norm.cdf(z)

    z = np.linspace(-4, 4, 41)
    oracle = [optimize.brentq(gap, -10, 15, args=(value,), xtol=1e-14) for value in z]
    ours = jax.jit(partial(mixture_quantile_of_normal, weights=weights, means=means))(z)
    np.testing.assert_allclose(ours, oracle, atol=1e-9)


def test_mixture_quantile_keeps_both_tails() -> None:
    # Far out only the outermost component counts: π Φ(w − m) = Φ(z), and Φ(12) rounds to 1.
    quantile = partial(mixture_quantile_of_normal, weights=(0.3, 0.7), means=(0.0, 5.0))
    upper, lower = np.asarray(jax.jit(quantile)(np.array([12.0, -12.0])))
    assert upper == pytest.approx(5 - stats.norm.ppf(stats.norm.cdf(-12) / 0.7), abs=1e-9)
    assert lower == pytest.approx(stats.norm.ppf(stats.norm.cdf(-12) / 0.3), abs=1e-9)


def test_mixture_quantile_names_bad_weights() -> None:
    with pytest.raises(ValueError, match="weights"):
        mixture_quantile_of_normal(jnp.zeros(1), weights=(0.5, 0.6), means=(0.0, 1.0))
    with pytest.raises(ValueError, match="weights"):
        mixture_quantile_of_normal(jnp.zeros(1), weights=(1.0,), means=(0.0, 1.0))


@pytest.mark.parametrize(
    ("wiggly", "amplitudes", "frequencies", "phases", "least_slope"),
    [
        (wiggly_x, (0.4, 0.2, 0.03), (1.0, 1.7, 3.3), (0.0, 1.0, -2.5), 0.16),
        (wiggly_y, (-0.4, 0.17, 0.02), (0.4, 1.3, 4.3), (0.0, 3.5, -2.5), 0.53),
    ],
)
def test_wiggly_values_and_slopes(
    wiggly: Callable[[Array], Array],
    amplitudes: tuple[float, ...],
    frequencies: tuple[float, ...],
    phases: tuple[float, ...],
    least_slope: float,
) -> None:
    z = np.linspace(-20, 20, 4_001)
    waves = np.sin(np.outer(z, frequencies) + phases)
    values, slopes = jax.jit(lambda z: jax.jvp(wiggly, (z,), (jnp.ones_like(z),)))(z)
    np.testing.assert_allclose(values, z + waves @ np.array(amplitudes), atol=1e-12)
    assert 1 - np.abs(np.multiply(amplitudes, frequencies)).sum() > least_slope
    assert (np.asarray(slopes) > least_slope).all()


def test_swiss_roll_winds_outwards() -> None:
    u = np.linspace(0, 1, 201)[:, None]
    x = np.asarray(jax.jit(swiss_roll)(u))
    t = 21 * np.linalg.norm(x, axis=1)  # the radius grows with u, so the roll never meets itself
    np.testing.assert_allclose((t / (1.5 * math.pi) - 1) / 2, u[:, 0], atol=1e-12)
    np.testing.assert_allclose(np.exp(1j * t), (x[:, 0] + 1j * x[:, 1]) * 21 / t, atol=1e-12)


@pytest.mark.parametrize(("dim", "plane"), [(2, (0, 1)), (4, (0, 1)), (4, (1, 2))])
def test_spiral_is_a_matrix_exponential(dim: int, plane: tuple[int, int]) -> None:
    generator = np.zeros((dim, dim))
    generator[plane], generator[plane[::-1]] = -1, 1
    x = rows(dim)
    oracle = [linalg.expm(0.7 * (row @ row) * generator) @ row for row in x]
    turned = jax.jit(partial(spiral, plane=plane, speed=0.7))(x)
    np.testing.assert_allclose(turned, oracle, atol=1e-12)


def test_spiral_keeps_norms_and_volumes_and_can_be_undone() -> None:
    x, turn = rows(3), partial(spiral, plane=(1, 2))
    turned = np.asarray(jax.jit(partial(turn, speed=0.4))(x))
    np.testing.assert_allclose(np.sum(turned**2, axis=1), np.sum(x**2, axis=1), rtol=1e-12)
    jacobian = jax.jit(jax.vmap(jax.jacfwd(lambda row: turn(row[None], speed=0.4)[0])))(x)
    np.testing.assert_allclose(np.linalg.det(jacobian), 1, rtol=1e-10)
    np.testing.assert_allclose(jax.jit(partial(turn, speed=-0.4))(turned), x, atol=1e-12)
    assert not np.allclose(turned, x)
