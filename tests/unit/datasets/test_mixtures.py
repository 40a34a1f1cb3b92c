"""Mixture pairs against SciPy, and the documented sizes of the presets."""

from functools import partial

import jax
import numpy as np
import pytest
from jaxtyping import PRNGKeyArray
from scipy import special, stats

from secant.datasets import Pair, mixture_2d, mixture_8d, mixture_pair
from secant.datasets.mixtures import _Mixture


def scipy_log_density(mixture: _Mixture, x: np.ndarray) -> np.ndarray:
    """Log density from the components' normalised SciPy densities."""
    components = [
        stats.norm.logpdf(x, mean, scale).sum(axis=1)
        for mean, scale in zip(mixture.means, mixture.scales, strict=True)
    ]
    return special.logsumexp(np.stack(components, axis=1), axis=1, b=mixture.weights)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("n_features", [1, 2, 8])
def test_log_ratio_matches_scipy(n_features: int) -> None:
    pair = mixture_pair(n_features, n_components=3, seed=5)
    p_0, p_1 = pair.draw_0.__self__, pair.draw_1.__self__
    x = 3 * np.random.default_rng(0).standard_normal((100, n_features))
    oracle = scipy_log_density(p_1, x) - scipy_log_density(p_0, x)
    np.testing.assert_allclose(jax.jit(pair.log_ratio)(x), oracle, rtol=1e-10, atol=1e-10)


def test_samples_follow_the_mixture_in_one_dimension(key: PRNGKeyArray) -> None:
    pair = mixture_pair(1, n_components=3, separation=3.0, seed=1)
    for draw in (pair.draw_0, pair.draw_1):
        mixture = draw.__self__

        def cdf(x: np.ndarray, mixture: _Mixture = mixture) -> np.ndarray:
            return stats.norm.cdf(x[:, None], mixture.means[:, 0], mixture.scales[:, 0]) @ (
                mixture.weights
            )

        x = np.asarray(jax.jit(partial(draw, n=5_000))(key), float)[:, 0]
        assert stats.kstest(x, cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("pair", "kl", "spread", "reverse_kl"),
    [(mixture_2d(), 4.555, 3.67, 4.13), (mixture_8d(), 11.637, 4.33, 22.09)],
    ids=["2d", "8d"],
)
def test_presets_have_the_documented_size(
    pair: Pair, kl: float, spread: float, reverse_kl: float, key: PRNGKeyArray
) -> None:
    n = 20_000
    forward = pair.kl_estimate(key, n)
    backward = pair.swapped().kl_estimate(key, n)
    # 4 standard errors, and the rounding of the documented number.
    assert abs(forward.value - kl) < 4 * forward.standard_error + 0.01
    assert abs(backward.value - reverse_kl) < 4 * backward.standard_error + 0.01
    assert forward.standard_error * np.sqrt(n) == pytest.approx(spread, rel=0.05)


def test_seed_fixes_the_parameters_and_not_the_samples() -> None:
    x = np.ones((1, 4), np.float32)
    one, again, other = (
        float(jax.jit(mixture_pair(4, seed=seed).log_ratio)(x)[0]) for seed in (1, 1, 2)
    )
    assert one == again != other


@pytest.mark.parametrize("arguments", [{"n_components": 0}, {"separation": 0.0}, {"scale_1": -1.0}])
def test_bad_parameters_are_named(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        mixture_pair(2, **arguments)
