"""Gaussian mixtures for many rows, grown by splitting and fitted by stepwise EM (N2)."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.bases.references import GaussianMixtureReference

Rows = Float[np.ndarray, "n d"]

_BLOCK_NUMBERS = 1 << 24  # rows × components × columns of a block: 64 MiB in float32
_ROWS_A_COMPONENT = 10  # minimum number of rows per component and column
_LEAST_STEPS = 30  # minimum number of EM steps between two doublings
_FORGETTING = 0.6  # exponent of the step size, between 1/2 (fast) and 1 (equal weight of all steps)


class Growth(eqx.Module):
    """Settings for growing a mixture.

    Attributes:
        max_components: maximum number of components.
        max_products: maximum of rows × components × columns², the cost of a pass over the rows.
        min_gain: minimum gain of a doubling in held-out log likelihood, nats per row.
        patience: doublings without such a gain before growth stops; the best mixture is kept. For
            a ring or a chessboard the first few doublings gain nothing.
        passes: passes over the rows between two doublings.
        batch_size: rows per step; with all rows in a batch it is plain expectation maximisation.
    """

    max_components: int = 2048
    max_products: float = 1.2e12
    min_gain: float = 0.005
    patience: int = 3
    passes: float = 0.5
    batch_size: int = 20_000


class _Statistics(NamedTuple):
    """Means over rows of the responsibilities r, of r x and of r x xᵀ."""

    share: Float[np.ndarray, " k"]
    first: Float[np.ndarray, "k d"]
    second: Float[np.ndarray, "k d d"]

    def moments(self, n: int) -> _Moments:
        """The mixture that maximises the likelihood of n rows.

        Each covariance is shrunk towards the pooled one by d + 2 pseudo-rows.
        """
        share = np.maximum(self.share, 1e-12)
        means = self.first / share[:, None]
        scatter = self.second - share[:, None, None] * means[:, :, None] * means[:, None, :]
        pooled = scatter.sum(axis=0)
        pooled = pooled + 1e-6 * np.trace(pooled) / means.shape[1] * np.eye(means.shape[1])
        prior = (means.shape[1] + 2.0) / n
        covariances = (scatter + prior * pooled) / (share + prior)[:, None, None]
        return _Moments(share / share.sum(), means, covariances)


class _Moments(NamedTuple):
    weights: Float[np.ndarray, " k"]
    means: Float[np.ndarray, "k d"]
    covariances: Float[np.ndarray, "k d d"]

    def split(self) -> _Moments:
        """Split each component into two halves along its longest axis.

        The halves of N(0, λ) have means ±√(2λ/π) and variance λ(1 − 2/π), which preserves mean and
        covariance of the mixture.
        """
        values, vectors = np.linalg.eigh(self.covariances)
        axis = np.sqrt(values[:, -1, None]) * vectors[:, :, -1]
        shift = np.sqrt(2.0 / np.pi) * axis
        narrow = self.covariances - (2.0 / np.pi) * axis[:, :, None] * axis[:, None, :]
        return _Moments(
            np.concatenate([self.weights, self.weights]) / 2.0,
            np.concatenate([self.means - shift, self.means + shift]),
            np.concatenate([narrow, narrow]),
        )

    def mixture(self) -> GaussianMixtureReference:
        return GaussianMixtureReference.of(self.weights, self.means, self.covariances)


@eqx.filter_jit
def _sums(
    mixture: GaussianMixtureReference, x: Float[Array, "n d"], mask: Float[Array, " n"]
) -> tuple[Array, Array, Array, Array]:
    terms = mixture.log_terms(x)
    total = jax.nn.logsumexp(terms, axis=1)
    shares = jnp.exp(terms - total[:, None]) * mask[:, None]
    squares = (x[:, :, None] * x[:, None, :]).reshape(x.shape[0], -1)
    return shares.sum(axis=0), shares.T @ x, shares.T @ squares, jnp.sum(total * mask)


def _expected(mixture: GaussianMixtureReference, x: Rows) -> tuple[_Statistics, float]:
    """Statistics of some rows and their mean log likelihood, in blocks of one size."""
    k, d = mixture.means.shape
    size = min(max(_BLOCK_NUMBERS // (d * max(k, d)), 256), x.shape[0])
    totals = [np.zeros(k), np.zeros((k, d)), np.zeros((k, d * d)), np.zeros(())]
    for start in range(0, x.shape[0], size):
        rows = x[start : start + size]
        block = np.pad(rows, ((0, size - rows.shape[0]), (0, 0)))
        mask = (np.arange(size) < rows.shape[0]).astype(block.dtype)
        sums = _sums(mixture, *jax.device_put((block, mask)))
        for total, found in zip(totals, sums, strict=True):
            total += np.asarray(found)
    share, first, second, likelihood = (total / x.shape[0] for total in totals)
    return _Statistics(share, first, second.reshape(k, d, d)), float(likelihood)


def _improved(start: _Moments, x: Rows, growth: Growth, rng: np.random.Generator) -> _Moments:
    """Stepwise expectation maximisation: a decaying average of the statistics of batches."""
    n, moments, statistics = x.shape[0], start, None
    batch = min(growth.batch_size, n)
    n_steps = max(_LEAST_STEPS, round(growth.passes * n / batch))
    order = rng.permutation(n)
    for step in range(n_steps):
        rows = np.take(order, np.arange(step * batch, (step + 1) * batch), mode="wrap")
        found, _ = _expected(moments.mixture(), x[rows])
        if statistics is None or batch == n:
            statistics = found
        else:
            rate = (step + 1.0) ** -_FORGETTING
            pairs = zip(statistics, found, strict=True)
            statistics = _Statistics(*((1.0 - rate) * a + rate * b for a, b in pairs))
        moments = statistics.moments(n)
    return moments


def grown_mixture(
    x: Rows, held: Rows, growth: Growth, rng: np.random.Generator
) -> GaussianMixtureReference:
    """A mixture whose components are doubled while the held-out likelihood increases (N2).

    Args:
        x: (n, d) rows of about unit scale.
        held: held-out rows that select the number of components.
        growth: when to stop.
        rng: the order of the rows.

    References:
        [@cappe2009online]
    """
    whole = _Statistics(np.ones(1), x.mean(axis=0)[None], (x.T @ x / x.shape[0])[None])
    moments = whole.moments(x.shape[0])
    kept, best, vain = moments, _expected(moments.mixture(), held)[1], 0
    n, d = x.shape
    most = min(
        growth.max_components,
        growth.max_products / (n * d**2),
        n / (_ROWS_A_COMPONENT * (d + 1)),
    )
    while 2 * moments.weights.size <= most and vain < growth.patience:
        moments = _improved(moments.split(), x, growth, rng)
        score = _expected(moments.mixture(), held)[1]
        if score > best + growth.min_gain:
            kept, best, vain = moments, score, 0
        else:
            vain += 1
    return kept.mixture()
