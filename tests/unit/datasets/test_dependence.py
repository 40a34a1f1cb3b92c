"""Mutual-information pairs against quadrature, published truths and SciPy."""

import math
from functools import partial

import jax
import numpy as np
import pytest
from jaxtyping import PRNGKeyArray
from scipy import integrate, stats

from secant.datasets import (
    additive_noise,
    asinh_student,
    block_gaussians,
    edge_singular_gauss,
    shuffled,
)


@pytest.mark.parametrize(("epsilon", "truth"), [(0.1, 1.7094), (0.75, 0.3333)])
def test_additive_noise_truth_of_the_benchmark(epsilon: float, truth: float) -> None:
    assert additive_noise(epsilon).kl == pytest.approx(truth, abs=5e-5)


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 0.5, 0.75, 2.0])
def test_additive_noise_truth_by_quadrature(epsilon: float) -> None:
    # MI = h(Y) − h(Y|X), with h(Y|X) = log 2ε and Y's density a convolution of two uniforms.
    def density(y: float) -> float:
        return (min(1, y + epsilon) - max(0, y - epsilon)) / (2 * epsilon)

    def entropy_integrand(y: float) -> float:
        return -density(y) * math.log(density(y))

    kinks = sorted({epsilon, 1 - epsilon})
    entropy = integrate.quad(entropy_integrand, -epsilon, 1 + epsilon, points=kinks)[0]
    assert additive_noise(epsilon).kl == pytest.approx(entropy - math.log(2 * epsilon), abs=1e-8)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("epsilon", [0.1, 0.75])
def test_additive_noise_log_ratio_from_its_densities(epsilon: float) -> None:
    random = np.random.default_rng(0)
    x, y = random.uniform(0, 1, 1_000), random.uniform(-epsilon, 1 + epsilon, 1_000)
    noise = stats.uniform(-epsilon, 2 * epsilon)
    # p(y) = P(noise ≤ y) − P(noise ≤ y − 1), a route that shares nothing with the overlap.
    oracle = noise.logpdf(y - x) - np.log(noise.cdf(y) - noise.cdf(y - 1))
    log_r = jax.jit(additive_noise(epsilon).log_ratio)(np.stack([x, y], axis=1))
    np.testing.assert_allclose(log_r, oracle, atol=1e-9)


def test_additive_noise_off_the_supports() -> None:
    rows = np.array([[0.5, 0.5], [0.5, 0.9], [0.5, 3.0], [-0.2, -0.1]], np.float32)
    log_r = np.asarray(jax.jit(additive_noise(0.1).log_ratio)(rows))
    assert np.isfinite(log_r[0])
    assert np.isneginf(log_r[1])
    assert np.isnan(log_r[2:]).all()


def test_additive_noise_forgives_rounding_at_the_edge_of_the_support() -> None:
    # In float32 |(x + ε) − x| > ε for many x: a strict bound would read −∞ on a row of p_1.
    epsilon, x = np.float32(0.1), np.linspace(0.01, 0.99, 1_000, dtype=np.float32)
    assert (np.abs((x + epsilon) - x) > epsilon).any()
    log_ratio = jax.jit(additive_noise(0.1).log_ratio)
    for y in (x + epsilon, x - epsilon):
        assert np.isfinite(log_ratio(np.stack([x, y], axis=1))).all()


@pytest.mark.parametrize("rho", [0.5, -0.9, 0.999999])
def test_edge_singular_gauss_truth(rho: float) -> None:
    assert edge_singular_gauss(rho).kl == pytest.approx(-0.5 * math.log(1 - rho**2), rel=1e-9)


@pytest.mark.parametrize(("dim", "truth"), [(1, 0.2242), (2, 0.4319)])
def test_asinh_student_truth_of_the_benchmark(dim: int, truth: float) -> None:
    assert asinh_student(dim, dim, df=1.0).kl == pytest.approx(truth, abs=5e-5)


@pytest.mark.usefixtures("float64")
def test_asinh_student_log_ratio_matches_scipy() -> None:
    x = 3 * np.random.default_rng(0).standard_normal((50, 5))
    joint, first, last = (stats.multivariate_t(df=3.0, shape=np.eye(m)) for m in (5, 2, 3))
    oracle = joint.logpdf(x) - first.logpdf(x[:, :2]) - last.logpdf(x[:, 2:])
    ours = jax.jit(asinh_student(2, 3, df=3.0).log_ratio)(np.arcsinh(x))
    np.testing.assert_allclose(ours, oracle, rtol=1e-8, atol=1e-10)


def test_asinh_student_joint_rows_follow_the_multivariate_student(key: PRNGKeyArray) -> None:
    # ‖x‖²/d ~ F(d, ν) for the joint, and each margin is a Student t.
    pair = asinh_student(1, 2, df=2.5)
    x_0, x_1 = (np.sinh(np.asarray(y, float)) for y in jax.jit(partial(pair.sample, n=5_000))(key))
    assert stats.kstest((x_1**2).mean(axis=1), stats.f(3, 2.5).cdf).pvalue > 1e-4
    assert stats.kstest((x_0[:, 1:] ** 2).mean(axis=1), stats.f(2, 2.5).cdf).pvalue > 1e-4
    for column in range(3):
        assert stats.kstest(x_1[:, column], stats.t(2.5).cdf).pvalue > 1e-4


def test_shuffled_moves_the_y_columns_together(key: PRNGKeyArray) -> None:
    rows = np.repeat(np.arange(100)[:, None], 5, axis=1)
    moved = np.asarray(jax.jit(lambda x, key: shuffled(x, [1, 3], key))(rows, key))
    np.testing.assert_array_equal(moved[:, [0, 2, 4]], rows[:, [0, 2, 4]])
    np.testing.assert_array_equal(moved[:, 1], moved[:, 3])
    np.testing.assert_array_equal(np.sort(moved[:, 1]), np.arange(100))
    assert (moved[:, 1] != np.arange(100)).mean() > 0.9


def test_shuffled_blocks_are_rows_of_p_0(key: PRNGKeyArray) -> None:
    n, pair = 20_000, block_gaussians(6)
    x_1 = jax.jit(partial(pair.draw_1, n=n))(key)
    x_0 = jax.jit(lambda x, key: shuffled(x, [1, 3, 5], key))(x_1, jax.random.fold_in(key, 1))
    correlations = np.corrcoef(np.asarray(x_0, float), rowvar=False) - np.eye(6)
    assert np.abs(correlations).max() < 4.5 / math.sqrt(n)  # 4.5 standard errors, 15 entries
    reverse = -np.asarray(jax.jit(pair.log_ratio)(x_0), float)
    standard_error = reverse.std() / math.sqrt(n)
    assert abs(reverse.mean() - pair.reverse_kl) < 4 * standard_error


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        additive_noise(0.0)
    with pytest.raises(ValueError, match="rho"):
        edge_singular_gauss(1.0)
    with pytest.raises(ValueError, match="df"):
        asinh_student(1, 1, df=0.0)
