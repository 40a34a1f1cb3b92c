"""Scalings: strictly increasing maps, column by column, applied to both samples alike.

p_1(x)/p_0(x) is invariant under invertible maps of x, so any such map leaves the ratio exact; a
good one makes the path easier to learn.
"""

from __future__ import annotations

import abc
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from secant._host.provenance import cores
from secant._spread import Spread

LEVELS = np.linspace(-3.0, 3.0, 49)  # normal quantiles at which a margin is tabulated
_ROWS_AT_ONCE = 1024
_FEWEST_ROWS = 200  # rows of each sample needed for quantiles
FARTHEST = 1e12  # standard deviations from the centre; larger squares overflow single precision
_LEAST_GAP = 1e-3  # between knots, in standard deviations; bounds the slope at atoms


class Scaling(eqx.Module):
    """A fitted map: standardisation, then in some columns a monotone table to a normal margin.

    The host arrays are float64, which holds scales from 1e-12 to 1e12; scaled rows are float32.
    """

    center: Float[np.ndarray, " d"]
    scale: Float[np.ndarray, " d"]
    tabulated: tuple[bool, ...]  # a tuple, which is static for the compiler
    knots: Float[np.ndarray, "d m"]

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Raw rows → scaled float32 rows, on the host."""
        return self._mapped(x, np.float32)

    def precise(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Raw rows → scaled float64 rows, for estimators that solve linear systems."""
        return self._mapped(x, np.float64)

    def _mapped(self, x: Float[np.ndarray, "n d"], dtype: type) -> Float[np.ndarray, "n d"]:
        y: np.ndarray = np.empty(x.shape, dtype)

        def fill(start: int) -> None:
            some = slice(start, start + _ROWS_AT_ONCE)
            y[some] = self._precise(x[some])

        # Small blocks stay in the processor cache between operations.
        starts = range(0, x.shape[0], _ROWS_AT_ONCE)
        if len(starts) < 2 or len(cores()) < 2:
            for start in starts:
                fill(start)
            return y
        with ThreadPoolExecutor() as threads:  # NumPy releases the lock in its loops
            list(threads.map(fill, starts))
        return y

    def _precise(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        y = self._standardised(x)
        for column in np.flatnonzero(self.tabulated):
            y[:, column] = _table(y[:, column].copy(), self.knots[column], np)
        return y

    def _standardised(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        with np.errstate(over="ignore"):  # such rows are clipped below
            y = np.subtract(x, self.center, dtype=np.float64, order="C")
            y /= self.scale
        np.clip(y, -FARTHEST, FARTHEST, out=y)
        return y

    def slope(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The map's derivative at raw rows, column by column."""
        y = self._standardised(x)
        slope = np.broadcast_to(1.0 / self.scale, y.shape).copy()
        for column in np.flatnonzero(self.tabulated):
            slope[:, column] *= _table_slope(y[:, column], self.knots[column])
        return slope

    def traced(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The map inside a compiled program, for rows drawn there."""
        y = (x - self.center.astype(x.dtype)) / self.scale.astype(x.dtype)
        y = jnp.clip(y, -FARTHEST, FARTHEST)
        bent = np.flatnonzero(self.tabulated)
        if bent.size == 0:
            return y
        knots = jnp.asarray(self.knots[bent], dtype=x.dtype)
        mapped = jax.vmap(lambda c, k: _table(c, k, jnp), (1, 0), 1)(y[:, bent], knots)
        return mapped if bent.size == y.shape[1] else y.at[:, bent].set(mapped)


def _table(y: Array | np.ndarray, knots: Float[Array, " m"], xp: ModuleType) -> Float[Array, " n"]:
    """Increasing map: piecewise linear between the knots, logarithmic beyond them."""
    inside = xp.interp(y, knots, xp.asarray(LEVELS, dtype=y.dtype))
    return inside + tail(y, knots[0], knots[-1], xp)


def tail(y: Array | np.ndarray, first: ArrayLike, last: ArrayLike, xp: ModuleType) -> Array:
    """The map beyond its first and last knot, ± log(1 + distance)."""
    beyond = y - xp.clip(y, first, last)
    return xp.sign(beyond) * xp.log1p(xp.abs(beyond))


def _table_slope(
    y: Float[np.ndarray, " n"], knots: Float[np.ndarray, " m"]
) -> Float[np.ndarray, " n"]:
    beyond = np.maximum(y - knots[-1], 0.0) + np.maximum(knots[0] - y, 0.0)
    segment = np.clip(np.searchsorted(knots, y, side="right") - 1, 0, knots.size - 2)
    inside = (np.diff(LEVELS) / np.diff(knots))[segment]
    return np.where(beyond > 0.0, 1.0 / (1.0 + beyond), inside)


class ScalingRule(eqx.Module):
    """A rule that fits a scaling to the training rows."""

    @abc.abstractmethod
    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""


class Identity(ScalingRule):
    """No scaling, for samples whose scale has a meaning, such as x_0 ~ N(0, I)."""

    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""
        del x_1
        return _affine(np.zeros(x_0.shape[1]), np.ones(x_0.shape[1]))


def _affine(center: Float[np.ndarray, " d"], scale: Float[np.ndarray, " d"]) -> Scaling:
    off = (False,) * center.size
    return Scaling(center, scale, off, np.zeros((center.size, LEVELS.size)))


class Standardise(ScalingRule):
    """Zero mean and unit variance of the two samples pooled with equal weight.

    If outliers dominate a column, the moments are those of the other rows, and values beyond three
    standard deviations are compressed by a logarithm; an `OutlierWarning` says so.
    """

    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""
        found = Spread.of(x_0, x_1)
        # A table with equal steps is the identity between its ends.
        knots = np.where(found.has_outliers[:, None], LEVELS, 0.0)
        return Scaling(found.center, found.scale, tuple(found.has_outliers.tolist()), knots)


class _Margin(NamedTuple):
    """One column of the two samples, pooled and sorted.

    Attributes:
        values: pooled values in increasing order.
        is_first: which values are from the first sample.
        n_0: number of values from the first sample.
        is_constant_0: whether all of them are equal.
    """

    values: Float[np.ndarray, " n"]
    is_first: Bool[np.ndarray, " n"]
    n_0: int
    is_constant_0: bool

    @classmethod
    def of(cls, a: Float[np.ndarray, " n"], b: Float[np.ndarray, " m"]) -> _Margin:
        # Sorting each first is faster: the stable sort then only merges two sorted runs.
        a, b = np.sort(a), np.sort(b)
        pooled = np.concatenate([a, b])
        order = np.argsort(pooled, kind="stable")
        return cls(pooled[order], order < a.size, a.size, bool(a[0] == a[-1]))

    @property
    def n_1(self) -> int:
        return self.values.size - self.n_0

    def distance(self) -> float:
        """Kolmogorov–Smirnov distance between the samples."""
        gap = np.cumsum(self.is_first) / self.n_0 - np.cumsum(~self.is_first) / self.n_1
        is_last = np.append(self.values[1:] > self.values[:-1], True)  # of equal values
        return float(np.max(np.abs(gap[is_last])))

    def distance_from_normal(self) -> float:
        """Kolmogorov–Smirnov distance between the pooled sample and N(0, 1)."""
        levels, n = ndtr(self.values), self.values.size
        ranks = np.arange(n + 1) / n
        return float(max(np.max(levels - ranks[:-1]), np.max(ranks[1:] - levels)))

    def knots(self) -> Float[np.ndarray, " k"]:
        """Quantiles of the pooled sample at the table's levels, with a minimum gap between them."""
        n = self.values.size
        quantiles = np.interp(ndtr(LEVELS) * (n - 1), np.arange(n), self.values)
        gaps = np.maximum(np.diff(quantiles), _LEAST_GAP)
        return np.concatenate([quantiles[:1], quantiles[0] + np.cumsum(gaps)])


class AdaptiveMargins(ScalingRule):
    """Standardise, then map the margins of suitable columns to a normal distribution.

    The table is that of the pooled sample. It is used if both samples have the same margin (always
    the case for mutual information), so that the path starts and ends with normal margins, and if
    either sample has heavy tails. Other columns are only standardised: pooling two distant margins
    would compress the gap between them, and a table adds noise and cost to a margin that is normal
    already.

    Attributes:
        same_margin: Kolmogorov–Smirnov distance, beyond sampling noise, up to which two margins
            count as the same.
        normal_margin: Kolmogorov–Smirnov distance from a normal margin, sampling noise included,
            up to which a margin counts as normal; fewer than about ten thousand rows exceed it.
        heavy_tail: ratio of the 99.8 % range to the interquartile range, in units of the normal
            distribution's, beyond which tails count as heavy.
    """

    same_margin: float = 0.01
    normal_margin: float = 0.005
    heavy_tail: float = 1.5

    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""
        plain = Standardise().fitted(x_0, x_1)
        if min(x_0.shape[0], x_1.shape[0]) < _FEWEST_ROWS:
            return plain
        y_0, y_1 = plain(x_0), plain(x_1)  # outliers compressed
        margins = [_Margin.of(a, b) for a, b in zip(y_0.T, y_1.T, strict=True)]
        to_bend = np.array([self._agree(m) and not self._is_normal(m) for m in margins])
        gains = to_bend | self._tail(y_0) | self._tail(y_1)
        tabulated = gains | plain.tabulated
        own = np.stack([margin.knots() for margin in margins])
        knots = np.where((tabulated & ~gains)[:, None], plain.knots, own)
        return Scaling(plain.center, plain.scale, tuple(tabulated.tolist()), knots)

    def _agree(self, margin: _Margin) -> bool:
        noise = 1.63 * np.sqrt(1.0 / margin.n_0 + 1.0 / margin.n_1)  # 1 % point of the statistic
        return not margin.is_constant_0 and margin.distance() <= self.same_margin + noise

    def _is_normal(self, margin: _Margin) -> bool:
        return margin.distance_from_normal() <= self.normal_margin

    def _tail(self, y: Float[np.ndarray, "n d"]) -> Bool[np.ndarray, " d"]:
        low, first, third, high = np.quantile(y, [0.001, 0.25, 0.75, 0.999], axis=0)
        normal = ndtri(0.999) / ndtri(0.75)
        return (high - low) > self.heavy_tail * normal * np.maximum(third - first, 1e-12)
