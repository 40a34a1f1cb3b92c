"""Pairs of Gaussian mixtures."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import NDArray

from secant.datasets.pair import Pair


def mixture_pair(
    n_features: int,
    *,
    n_components: int = 4,
    separation: float = 2.0,
    scale_1: float = 0.7,
    seed: int = 0,
    name: str | None = None,
) -> Pair:
    """Two Gaussian mixtures with random weights, means and axis-aligned scales.

    `p_i = Σ_k w_ik N(μ_ik, diag σ_ik²)`, `μ_ik ~ N(0, separation² I)`, log-normal σ around 1 for
    p_0 and around `scale_1` for p_1. There is no closed-form KL: see `Pair.kl_estimate`.

    Args:
        n_features: d.
        n_components: Components of each mixture.
        separation: Spread of the means; the divergences grow with its square.
        scale_1: Typical standard deviation of a component of p_1; those of p_0 have 1.
        seed: Seed of the parameters (not of the samples).
        name: Name of the pair; by default made of `n_features` and `seed`.

    Returns:
        The pair.

    Raises:
        ValueError: If a count or a scale is not positive.

    Examples:
        >>> mixture_pair(3, seed=1).name
        'mixtures-3d-seed1'
    """
    if n_features < 1 or n_components < 1:
        raise ValueError(
            "`n_features` and `n_components` must be at least 1; "
            f"got {n_features} and {n_components}."
        )
    if not (separation > 0 and scale_1 > 0):
        raise ValueError(
            f"`separation` and `scale_1` must be positive; got {separation} and {scale_1}."
        )
    # NumPy never changes the stream of RandomState; that of default_rng may change between
    # releases, which would change the truth of a benchmark.
    random = np.random.RandomState(seed)
    p_0 = _random_mixture(random, (n_components, n_features), separation, 1.0)
    p_1 = _random_mixture(random, (n_components, n_features), separation, scale_1)
    ratio = _MixtureRatio(p_0, p_1)
    return Pair(
        name=name or f"mixtures-{n_features}d-seed{seed}",
        n_features=n_features,
        draw_0=p_0.draw,
        draw_1=p_1.draw,
        log_ratio=ratio.log_ratio,
    )


def mixture_2d() -> Pair:
    """Two mixtures of four components in two dimensions: KL 4.56 nats, reverse KL 4.13.

    Returns:
        The pair.

    Examples:
        >>> import jax
        >>> estimate = mixture_2d().kl_estimate(jax.random.key(0), 10_000)
        >>> 4.3 < estimate.value < 4.8
        True
    """
    return mixture_pair(2, separation=2.5, scale_1=0.7, seed=2, name="mixtures-2d")


def mixture_8d() -> Pair:
    """Two distant mixtures of four components in eight dimensions.

    The spread of the means was tuned to a KL of 11.64 nats, with a standard deviation of log r
    of 4.33 under p_1; the reverse KL is 22.09.

    Returns:
        The pair.

    Examples:
        >>> import jax
        >>> estimate = mixture_8d().kl_estimate(jax.random.key(0), 10_000)
        >>> 11.4 < estimate.value < 11.9
        True
    """
    return mixture_pair(8, separation=1.38, scale_1=0.66, seed=3, name="mixtures-8d")


# eq=False below: JAX hashes what it compiles, and arrays do not hash.


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Σ_k w_k N(μ_k, diag σ_k²), with (K,) weights and (K, d) means and scales."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]

    def draw(self, key: PRNGKeyArray, n: int) -> Array:
        """(n, d) rows: a component, then a Gaussian."""
        component_key, noise_key = jax.random.split(key)
        z = jax.random.normal(noise_key, (n, self.means.shape[1]))
        means, scales, logits = (
            jnp.asarray(v, z.dtype) for v in (self.means, self.scales, np.log(self.weights))
        )
        component = jax.random.categorical(component_key, logits, shape=(n,))
        return means[component] + scales[component] * z

    def log_kernel(self, x: Array) -> Array:
        """(n, d) → (n,): log density without `−(d/2) log 2π`, which cancels in a ratio."""
        log_heights = np.log(self.weights) - np.log(self.scales).sum(axis=1)
        means, scales, heights = (
            jnp.asarray(v, x.dtype) for v in (self.means, self.scales, log_heights)
        )
        z = (x[:, None, :] - means) / scales
        return jax.nn.logsumexp(heights - 0.5 * jnp.sum(z**2, axis=-1), axis=-1)


@dataclass(frozen=True, eq=False)
class _MixtureRatio:
    """log p_1 − log p_0 of two mixtures."""

    p_0: _Mixture
    p_1: _Mixture

    def log_ratio(self, x: Array) -> Array:
        """(n, d) → (n,)."""
        x = jnp.asarray(x)
        return self.p_1.log_kernel(x) - self.p_0.log_kernel(x)


def _random_mixture(
    random: np.random.RandomState, shape: tuple[int, int], separation: float, scale: float
) -> _Mixture:
    """Weights near uniform, scales within about 20 % of `scale`."""
    return _Mixture(
        weights=random.dirichlet(np.full(shape[0], 5.0)),
        means=separation * random.standard_normal(shape),
        scales=scale * np.exp(0.2 * random.standard_normal(shape)),
    )
