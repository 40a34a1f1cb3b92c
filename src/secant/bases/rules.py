"""Bases of a density estimate, selected by name or object and fitted to rows."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from secant.bases.charts import Affine, Chain, Chart, Rows, Values
from secant.bases.margins import NormalMargins
from secant.bases.mixture_fit import Growth, grown_mixture
from secant.bases.references import Reference, SampledDensity, StandardNormalReference
from secant.fitting import one_behind, padded_blocks

_BLOCK = 1 << 14


@eqx.filter_jit
def _log_prob(reference: Reference, y: Float[Array, "n d"]) -> Float[Array, " n"]:
    return reference.log_prob(y)


@eqx.filter_jit
def _sampled(reference: Reference, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
    return reference.sample(key, n)


@dataclass(frozen=True)
class Base:
    """A fitted p_0: a reference density in the coordinates of a chart."""

    chart: Chart
    reference: Reference

    def coordinates(self, x: Rows) -> Rows:
        """Rows in the chart's coordinates, the inputs of the network."""
        return self.chart(x).astype(np.float32)

    def sample(self, key: PRNGKeyArray, n: int) -> Rows:
        """n rows in the chart's coordinates."""
        blocks = -(-n // _BLOCK)
        rows = [_sampled(self.reference, k, min(_BLOCK, n)) for k in jax.random.split(key, blocks)]
        return np.concatenate([np.asarray(r) for r in rows])[:n]

    def log_prob(self, x: Rows) -> Values:
        """log p_0 of rows in the original columns."""
        return self.reference_log_prob(self.coordinates(x)) + self.chart.log_volume(x)

    def reference_log_prob(self, y: Rows) -> Values:
        """log p_0 in the chart, of rows in it."""
        blocks = one_behind(_log_prob(self.reference, block) for block in padded_blocks(y))
        return np.concatenate([np.asarray(block) for block in blocks])[: y.shape[0]].astype(
            np.float64
        )


class BaseRule(eqx.Module):
    """A rule for fitting a base."""

    @abc.abstractmethod
    def fitted(self, x: Rows, seed: int) -> Base:
        """Fit the base to rows."""


class StandardNormal(BaseRule):
    """N(0, I) in standardised columns, the base used in papers on density ratios."""

    def fitted(self, x: Rows, seed: int) -> Base:
        """Fit the base to rows."""
        del seed
        return Base(Affine.standardising(x), StandardNormalReference(x.shape[1]))


class FullGaussian(BaseRule):
    """N(m, w² S) with the rows' mean m and covariance S.

    A ratio is learned only where the base has rows. Where the data have heavier tails than a
    Gaussian, a wider base shows it where they end, and the learned density has a mass that can be
    computed.

    Attributes:
        widening: w, the base's standard deviation as a multiple of the rows'.
    """

    widening: float = 1.0

    def __check_init__(self) -> None:
        if not self.widening > 0.0:
            raise ValueError(f"FullGaussian needs widening > 0; got {self.widening}.")

    def fitted(self, x: Rows, seed: int) -> Base:
        """Fit the base to rows."""
        del seed
        chart = Affine.whitening(x).scaled(1.0 / self.widening)
        return Base(chart, StandardNormalReference(x.shape[1]))


class Mixture(BaseRule):
    """A mixture of Gaussians with full covariances, grown by splitting (N2).

    Attributes:
        growth: settings for growing the mixture.
    """

    growth: Growth = Growth()

    def fitted(self, x: Rows, seed: int) -> Base:
        """Fit the base to rows."""
        chart = Affine.whitening(x)
        rng = np.random.default_rng(seed)
        y = chart(x).astype(np.float32)
        kept, held = set_aside(x.shape[0], rng)
        return Base(chart, grown_mixture(y[kept], y[held], self.growth, rng))


class Copula(BaseRule):
    """Margins by monotone splines (N1), then another base in their normal coordinates.

    With the default `inside` it is a Gaussian copula.

    Attributes:
        inside: the base of the rows with normal margins.
        n_bins: maximum number of intervals of a margin's spline.
    """

    inside: BaseRule = FullGaussian()
    n_bins: int = 256

    def fitted(self, x: Rows, seed: int) -> Base:
        """Fit the base to rows."""
        margins = NormalMargins.fitted(x, self.n_bins)
        inner = self.inside.fitted(margins(x), seed)
        return Base(Chain(margins, inner.chart), inner.reference)


class Given(BaseRule):
    """A user's density, not fitted: any object with `sample(key, n)` and `log_prob(x)`.

    The network gets rows whitened by the data.
    """

    density: SampledDensity

    def fitted(self, x: Rows, seed: int) -> Base:
        """Fit the base to rows."""
        del seed
        chart = Affine.whitening(x)
        return Base(
            chart,
            _Pulled(
                self.density,
                jnp.asarray(chart.mean),
                jnp.asarray(chart.matrix),
                jnp.asarray(chart.matrix_back),
                chart.log_determinant,
            ),
        )


class _Pulled(Reference):
    density: SampledDensity
    mean: Array
    matrix: Array
    matrix_back: Array
    log_determinant: float

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return (self.density.sample(key, n) - self.mean) @ self.matrix

    def log_prob(self, y: Float[Array, "n d"]) -> Float[Array, " n"]:
        return self.density.log_prob(y @ self.matrix_back + self.mean) - self.log_determinant


_SHARE = 0.1
_MOST = 20_000


def set_aside(
    n: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]:
    """Indices of training rows, and of a tenth (1 to 20,000 rows) held out for selection."""
    order = rng.permutation(n)
    n_held = min(max(round(_SHARE * n), 1), _MOST)
    return order[n_held:], order[:n_held]
