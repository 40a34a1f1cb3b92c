"""Gaussian pairs against SciPy and the textbook divergence."""

import numpy as np
import pytest
from jaxtyping import PRNGKeyArray
from numpy.typing import ArrayLike
from scipy import stats

from secant.datasets import block_gaussians, gaussian_pair, narrow_gaussian

MEAN_0, MEAN_1 = np.array([0.5, -1.0, 0.2]), np.array([1.0, 0.3, -2.0])
COV_0 = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
COV_1 = np.array([[0.4, -0.1, 0.0], [-0.1, 3.0, 0.6], [0.0, 0.6, 1.0]])


def textbook_kl(
    mean_p: np.ndarray, cov_p: np.ndarray, mean_q: np.ndarray, cov_q: np.ndarray
) -> float:
    """½ [tr S_q⁻¹ S_p + (m_q − m_p)ᵀ S_q⁻¹ (m_q − m_p) − d + log|S_q| − log|S_p|]."""
    inverse, gap = np.linalg.inv(cov_q), mean_q - mean_p
    log_dets = np.linalg.slogdet(cov_q)[1] - np.linalg.slogdet(cov_p)[1]
    return 0.5 * (np.trace(inverse @ cov_p) + gap @ inverse @ gap - gap.size + log_dets)


@pytest.mark.usefixtures("float64")
def test_log_ratio_matches_scipy() -> None:
    pair = gaussian_pair(MEAN_0, COV_0, MEAN_1, COV_1)
    x = 3 * np.random.default_rng(0).standard_normal((100, 3))
    oracle = stats.multivariate_normal(MEAN_1, COV_1).logpdf(x)
    oracle -= stats.multivariate_normal(MEAN_0, COV_0).logpdf(x)
    np.testing.assert_allclose(pair.log_ratio(x), oracle, rtol=1e-10, atol=1e-10)


def test_both_divergences_match_the_textbook() -> None:
    pair = gaussian_pair(MEAN_0, COV_0, MEAN_1, COV_1)
    assert pair.kl == pytest.approx(textbook_kl(MEAN_1, COV_1, MEAN_0, COV_0), rel=1e-12)
    assert pair.reverse_kl == pytest.approx(textbook_kl(MEAN_0, COV_0, MEAN_1, COV_1), rel=1e-12)


@pytest.mark.usefixtures("float64")
def test_samples_have_the_moments(key: PRNGKeyArray) -> None:
    n = 50_000
    x_0, x_1 = gaussian_pair(MEAN_0, COV_0, MEAN_1, COV_1).sample(key, n)
    for x, mean, cov in ((x_0, MEAN_0, COV_0), (x_1, MEAN_1, COV_1)):
        error = 4.5 * np.sqrt(np.diag(cov) / n)  # 4.5 standard errors, 6 means
        assert (np.abs(np.mean(x, axis=0) - mean) < error).all()
        spread = np.diag(cov)
        error_cov = 4.5 * np.sqrt((np.outer(spread, spread) + cov**2) / n)
        assert (np.abs(np.cov(x, rowvar=False) - cov) < error_cov).all()


@pytest.mark.parametrize("n_features", [2, 40, 160])
def test_block_kl_is_a_quarter_of_the_dimension(n_features: int) -> None:
    assert block_gaussians(n_features).kl == pytest.approx(n_features / 4, rel=1e-10)


def test_block_kl_at_one_half_is_the_erratum() -> None:
    # ρ = 0.5 at d = 40: 2.88 nats, not the 10 of the ISA-DRE paper.
    assert block_gaussians(40, rho=0.5).kl == pytest.approx(-10 * np.log(0.75), rel=1e-10)


@pytest.mark.usefixtures("float64")
def test_blocks_pair_even_with_odd_coordinates(key: PRNGKeyArray) -> None:
    x_1 = block_gaussians(4, rho=0.8).draw_1(key, 20_000)
    expected = np.kron(np.eye(2), [[1, 0.8], [0.8, 1]])
    error = 4.5 * np.sqrt((1 + expected**2) / 20_000)  # 4.5 standard errors, 10 entries
    assert (np.abs(np.cov(x_1, rowvar=False) - expected) < error).all()


def test_narrow_gaussian_mean_has_norm_shift() -> None:
    n_features, shift, scale = 9, 3.0, 0.2
    expected = 0.5 * (n_features * (scale**2 - 1 - 2 * np.log(scale)) + shift**2)
    assert narrow_gaussian(n_features, shift, scale).kl == pytest.approx(expected, rel=1e-10)


def test_a_distribution_against_itself_has_ratio_one() -> None:
    pair = gaussian_pair(MEAN_0, COV_0, MEAN_0, COV_0)
    assert pair.kl == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(pair.log_ratio(3 * np.eye(3)), 0, atol=1e-5)


@pytest.mark.parametrize(
    ("mean", "cov", "message"),
    [
        ([[0.0]], [[1.0]], "mean_1.*shape"),
        ([0.0, 0.0], [[1.0]], "cov_1.*shape"),
        ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], "symmetric"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "positive definite"),
        ([0.0], [[1.0]], "mean_1.*as `mean_0`"),
    ],
)
def test_bad_parameters_are_named(mean: ArrayLike, cov: ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gaussian_pair([0.0, 0.0], np.eye(2), mean, cov)


def test_blocks_and_scale_are_validated() -> None:
    with pytest.raises(ValueError, match="even"):
        block_gaussians(3)
    with pytest.raises(ValueError, match="rho"):
        block_gaussians(2, rho=1.0)
    with pytest.raises(ValueError, match="scale"):
        narrow_gaussian(2, scale=0.0)
