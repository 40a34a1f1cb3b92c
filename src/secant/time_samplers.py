"""Time samplers: how the times t, and the pairs l ≤ t, of a training batch are drawn.

A sampler is defined by its quantile function. Draws are stratified (one uniform number per
stratum), which costs nothing and lowers the variance of a batch.
"""

from __future__ import annotations

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtri
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["Corners", "LogitNormal", "TimeSampler", "Uniform", "VarianceImportance"]

_CELLS = 512  # of the variance-importance table

VarianceOfTime = Callable[[Float[Array, " m"]], Float[Array, " m"]]


def _stratified(key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
    """One uniform number in each of n equal cells of [0, 1], in order."""
    return (jnp.arange(n) + jax.random.uniform(key, (n,))) / n


class TimeSampler(eqx.Module):
    """A distribution of times on [0, 1]."""

    @abc.abstractmethod
    def quantile(self, share: Float[Array, " n"]) -> Float[Array, " n"]:
        """The inverse distribution function, (0, 1) → [0, 1]."""

    @abc.abstractmethod
    def density(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The density of t; it integrates to 1."""

    def resolved(self, variance: VarianceOfTime) -> TimeSampler:
        """The sampler for a path whose conditional time score has this variance at time t."""
        del variance
        return self

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        """n stratified times, in increasing order."""
        return self.quantile(_stratified(key, n))

    def pairs(self, key: PRNGKeyArray, n: int) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """n independent pairs (l, t), each sorted so that l ≤ t."""
        key_first, key_second, key_order = jax.random.split(key, 3)
        first = self.sample(key_first, n)
        second = jax.random.permutation(key_order, self.sample(key_second, n))
        return jnp.minimum(first, second), jnp.maximum(first, second)


class Uniform(TimeSampler):
    """t ~ U(0, 1)."""

    def quantile(self, share: Float[Array, " n"]) -> Float[Array, " n"]:
        """The inverse distribution function."""
        return share

    def density(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """1 on [0, 1]."""
        return jnp.ones_like(t)


class LogitNormal(TimeSampler):
    """logit t ~ N(mean, scale²)."""

    mean: float = -0.4
    scale: float = 1.0

    def __check_init__(self) -> None:
        if self.scale <= 0.0:
            raise ValueError(f"LogitNormal needs scale > 0; got {self.scale}.")

    def quantile(self, share: Float[Array, " n"]) -> Float[Array, " n"]:
        """The inverse distribution function."""
        return jax.nn.sigmoid(self.mean + self.scale * ndtri(share))

    def density(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The normal density of logit t divided by t(1 − t)."""
        logit = jnp.log(t) - jnp.log1p(-t)
        return norm.pdf(logit, self.mean, self.scale) / (t * (1.0 - t))


class VarianceImportance(TimeSampler):
    """p(t) = (1 − floor) q(t) + floor with q(t) ∝ 1/Var(t), the paper's VI sampler with a floor.

    Under the VP schedule 1/Var puts all its mass next to t = 0, where the target carries no signal
    (erratum 5); the floor is the share of uniform draws, which cover the rest of the path. The
    paper has no floor (0).

    The table is filled by `resolved`, once the path and the data are known.
    """

    floor: float = 0.25
    cumulative: Float[Array, " m"] | None = None  # the distribution function at equal times

    def __check_init__(self) -> None:
        if not 0.0 <= self.floor <= 1.0:
            raise ValueError(f"VarianceImportance needs 0 <= floor <= 1; got {self.floor}.")

    def resolved(self, variance: VarianceOfTime) -> VarianceImportance:
        """The sampler for a path whose conditional time score has this variance at time t."""
        middles = (np.arange(_CELLS) + 0.5) / _CELLS
        precision = 1.0 / np.asarray(variance(jnp.asarray(middles)), dtype=np.float64)
        mass = (1.0 - self.floor) * precision / precision.sum() + self.floor / _CELLS
        cumulative = np.concatenate([[0.0], np.cumsum(mass)])
        return VarianceImportance(self.floor, jnp.asarray(cumulative / cumulative[-1]))

    def _table(self) -> Float[Array, " m"]:
        if self.cumulative is None:
            raise ValueError("VarianceImportance is used before resolved(variance) filled it.")
        return self.cumulative

    def quantile(self, share: Float[Array, " n"]) -> Float[Array, " n"]:
        """The inverse distribution function."""
        return jnp.interp(share, self._table(), jnp.linspace(0.0, 1.0, _CELLS + 1))

    def density(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """Constant on each of the table's cells."""
        cell = jnp.clip((t * _CELLS).astype(int), 0, _CELLS - 1)
        return jnp.diff(self._table())[cell] * _CELLS


class Corners(TimeSampler):
    """Times of another sampler, with shares of the intervals (0, t), (l, 1) and (0, 1).

    A log ratio by few evaluations needs long intervals, and few random pairs are long. The free end
    of (0, t) or (l, 1) is drawn by the other sampler.

    Attributes:
        of: the other sampler.
        start: share of the intervals with l = 0.
        end: share of those with t = 1.
        whole: share of (0, 1) itself.
    """

    of: TimeSampler = Uniform()
    start: float = 0.3
    end: float = 0.0
    whole: float = 0.0

    def __check_init__(self) -> None:
        shares = (self.start, self.end, self.whole)
        if not (min(shares) >= 0.0 and sum(shares) <= 1.0):  # NaN fails too
            raise ValueError(
                "Corners needs start, end and whole of at least 0 and at most 1 together; got "
                f"{self.start}, {self.end} and {self.whole}."
            )

    def quantile(self, share: Float[Array, " n"]) -> Float[Array, " n"]:
        """The other sampler's."""
        return self.of.quantile(share)

    def density(self, t: Float[Array, " n"]) -> Float[Array, " n"]:
        """The other sampler's."""
        return self.of.density(t)

    def resolved(self, variance: VarianceOfTime) -> Corners:
        """The sampler with its inner sampler resolved."""
        return Corners(self.of.resolved(variance), self.start, self.end, self.whole)

    def pairs(self, key: PRNGKeyArray, n: int) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """n pairs (l, t), some of them at the corners."""
        key_pairs, key_times, key_share = jax.random.split(key, 3)
        l, t = self.of.pairs(key_pairs, n)
        free = self.of.sample(key_times, n)
        kind = jax.random.uniform(key_share, (n,))
        edges = np.cumsum([self.start, self.end, self.whole])
        from_start, to_end, whole = (
            (kind >= low) & (kind < high)
            for low, high in zip((0.0, *edges[:-1]), edges, strict=True)
        )
        l = jnp.where(to_end, free, jnp.where(from_start | whole, 0.0, l))
        return l, jnp.where(from_start, free, jnp.where(to_end | whole, 1.0, t))
