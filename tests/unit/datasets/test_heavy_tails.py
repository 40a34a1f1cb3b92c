"""Student pairs against SciPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import PRNGKeyArray
from scipy import stats

from secant.datasets import student_pair
from secant.datasets.heavy_tails import student_log_density


@pytest.mark.usefixtures("float64")
def test_log_ratio_matches_scipy() -> None:
    pair = student_pair(4, df_0=3.0, df_1=6.5, shift=-0.7, scale=0.3)
    x = 10 * np.random.default_rng(0).standard_normal((100, 4))
    oracle = stats.t.logpdf(x, 6.5, -0.7, 0.3).sum(axis=1) - stats.t.logpdf(x, 3.0).sum(axis=1)
    np.testing.assert_allclose(pair.log_ratio(x), oracle, rtol=1e-10)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("df", [1.0, 4.5])
def test_multivariate_density_matches_scipy(df: float) -> None:
    x = 5 * np.random.default_rng(1).standard_normal((50, 3))
    oracle = stats.multivariate_t(df=df, shape=np.eye(3)).logpdf(x)
    ours = student_log_density(jnp.asarray((x**2).sum(axis=1)), df, 3)
    np.testing.assert_allclose(ours, oracle, rtol=1e-10)


def test_margins_follow_student(key: PRNGKeyArray) -> None:
    pair = student_pair(2, df_0=3.0, df_1=5.0, shift=1.0, scale=0.5)
    x_0, x_1 = (np.asarray(x, float) for x in pair.sample(key, 5_000))
    for column in range(2):
        assert stats.kstest(x_0[:, column], stats.t(3.0).cdf).pvalue > 1e-4
        assert stats.kstest(x_1[:, column], stats.t(5.0, 1.0, 0.5).cdf).pvalue > 1e-4


def test_divergence_is_the_mean_over_quantiles() -> None:
    # The midpoint rule over quantiles of p_1 needs no density as a weight; error below 1e-4 here.
    p_0, p_1 = stats.t(3.0), stats.t(5.0, 1.0, 0.5)
    x = p_1.ppf((np.arange(100_000) + 0.5) / 100_000)
    expected = 2 * np.mean(p_1.logpdf(x) - p_0.logpdf(x))
    assert student_pair(2).kl == pytest.approx(expected, abs=2e-4)


def test_divergence_is_invariant_under_a_common_change_of_units() -> None:
    # Swapping roles and undoing the map x → s + σx turns the reverse KL into a forward one.
    pair = student_pair(1, df_0=3.0, df_1=5.0, shift=1.0, scale=0.5)
    mirrored = student_pair(1, df_0=5.0, df_1=3.0, shift=-2.0, scale=2.0)
    assert pair.reverse_kl == pytest.approx(mirrored.kl, rel=1e-7)


def test_divergence_tends_to_the_gaussian_one() -> None:
    # At ν = 10⁶ the margins are N(0, 1) and N(1, ¼) up to O(1/ν): KL = ½ (σ² + s² − 1) − log σ.
    kl = student_pair(2, df_0=1e6, df_1=1e6, shift=1.0, scale=0.5).kl
    assert kl == pytest.approx(2 * (0.5 * 0.25 + np.log(2)), abs=1e-4)


@pytest.mark.parametrize("arguments", [{"df_0": 2.0}, {"df_1": 1.0}, {"scale": 0.0}])
def test_bad_parameters_are_named(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        student_pair(2, **arguments)
