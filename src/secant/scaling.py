"""Scalings: strictly increasing maps, column by column, applied to both samples alike.

p_1(x)/p_0(x) does not change under an invertible map of x, so the ratio stays exact whatever the
map; a good one makes the path easier to learn.
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
from secant.spread import Spread

LEVELS = np.linspace(-3.0, 3.0, 49)  # normal quantiles at which a margin is tabulated
_ROWS_AT_ONCE = 1024
_FEWEST_ROWS = 200  # of each sample, for quantiles to mean anything
FARTHEST = 1e12  # standard deviations from the centre: squares of more would end single precision
_LEAST_GAP = 1e-3  # between knots, in standard deviations: atoms must not make the map vertical


class Scaling(eqx.Module):
    """A fitted map: standardise, then for some columns a monotone table to a normal margin.

    Host arrays in float64, so that scales from 1e-12 to 1e12 lose nothing; rows leave as float32.
    """

    center: Float[np.ndarray, " d"]
    scale: Float[np.ndarray, " d"]
    tabulated: tuple[bool, ...]  # a tuple: which columns these are is known when compiling
    knots: Float[np.ndarray, "d m"]

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Raw rows → scaled float32 rows, on the host."""
        return self._mapped(x, np.float32)

    def precise(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The same rows in float64, for estimators that solve linear systems."""
        return self._mapped(x, np.float64)

    def _mapped(self, x: Float[np.ndarray, "n d"], dtype: type) -> Float[np.ndarray, "n d"]:
        y: np.ndarray = np.empty(x.shape, dtype)

        def fill(start: int) -> None:
            some = slice(start, start + _ROWS_AT_ONCE)
            y[some] = self._precise(x[some])

        # A few rows at a time: they stay in the cache from one operation to the next.
        starts = range(0, x.shape[0], _ROWS_AT_ONCE)
        if len(starts) < 2 or len(cores()) < 2:
            for start in starts:
                fill(start)
            return y
        with ThreadPoolExecutor() as threads:  # NumPy lets go of the lock where time is spent
            list(threads.map(fill, starts))
        return y

    def _precise(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        y = self._standardised(x)
        for column in np.flatnonzero(self.tabulated):
            y[:, column] = _table(y[:, column].copy(), self.knots[column], np)
        return y

    def _standardised(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        with np.errstate(over="ignore"):  # of rows that are too far in any case
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
        """The same map inside a compiled loop, for rows made there."""
        y = (x - self.center.astype(x.dtype)) / self.scale.astype(x.dtype)
        y = jnp.clip(y, -FARTHEST, FARTHEST)
        bent = np.flatnonzero(self.tabulated)
        if bent.size == 0:
            return y
        knots = jnp.asarray(self.knots[bent], dtype=x.dtype)
        mapped = jax.vmap(lambda c, k: _table(c, k, jnp), (1, 0), 1)(y[:, bent], knots)
        return mapped if bent.size == y.shape[1] else y.at[:, bent].set(mapped)


def _table(y: Array | np.ndarray, knots: Float[Array, " m"], xp: ModuleType) -> Float[Array, " n"]:
    """Piecewise linear between the knots, logarithmic beyond: increasing and tame for outliers."""
    inside = xp.interp(y, knots, xp.asarray(LEVELS, dtype=y.dtype))
    return inside + tail(y, knots[0], knots[-1], xp)


def tail(y: Array | np.ndarray, first: ArrayLike, last: ArrayLike, xp: ModuleType) -> Array:
    """What the map adds beyond its first and last knot: ± log(1 + distance)."""
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
    """How to choose a scaling from the training rows."""

    @abc.abstractmethod
    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""


class Identity(ScalingRule):
    """Columns as they are: for samples whose scale means something, such as x_0 ~ N(0, I)."""

    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""
        del x_1
        return _affine(np.zeros(x_0.shape[1]), np.ones(x_0.shape[1]))


def _affine(center: Float[np.ndarray, " d"], scale: Float[np.ndarray, " d"]) -> Scaling:
    off = (False,) * center.size
    return Scaling(center, scale, off, np.zeros((center.size, LEVELS.size)))


class Standardise(ScalingRule):
    """Zero mean and unit variance of the two samples pooled with equal weight.

    A column ruled by a few far values gets those of the other rows, and is drawn in by a logarithm
    beyond three standard deviations; an `OutlierWarning` says so.
    """

    def fitted(self, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Scaling:
        """The scaling for these rows."""
        found = Spread.of(x_0, x_1)
        # A table of equal steps is the identity between its ends.
        knots = np.where(found.has_outliers[:, None], LEVELS, 0.0)
        return Scaling(found.center, found.scale, tuple(found.has_outliers.tolist()), knots)


class _Margin(NamedTuple):
    """One column of both samples, sorted once for all that is asked of it.

    Attributes:
        values: of both samples, in increasing order.
        is_first: which of them are of the first sample.
        n_0: how many are.
        is_constant_0: whether all of those are equal.
    """

    values: Float[np.ndarray, " n"]
    is_first: Bool[np.ndarray, " n"]
    n_0: int
    is_constant_0: bool

    @classmethod
    def of(cls, a: Float[np.ndarray, " n"], b: Float[np.ndarray, " m"]) -> _Margin:
        # Each alone first: merging two sorted runs is then all that is left of the slow sort.
        a, b = np.sort(a), np.sort(b)
        pooled = np.concatenate([a, b])
        order = np.argsort(pooled, kind="stable")
        return cls(pooled[order], order < a.size, a.size, bool(a[0] == a[-1]))

    @property
    def n_1(self) -> int:
        return self.values.size - self.n_0

    def distance(self) -> float:
        """Kolmogorov–Smirnov between the samples: the largest gap of their distributions."""
        gap = np.cumsum(self.is_first) / self.n_0 - np.cumsum(~self.is_first) / self.n_1
        is_last = np.append(self.values[1:] > self.values[:-1], True)  # of equal values
        return float(np.max(np.abs(gap[is_last])))

    def distance_from_normal(self) -> float:
        """Kolmogorov–Smirnov between the pooled sample and N(0, 1)."""
        levels, n = ndtr(self.values), self.values.size
        ranks = np.arange(n + 1) / n
        return float(max(np.max(levels - ranks[:-1]), np.max(ranks[1:] - levels)))

    def knots(self) -> Float[np.ndarray, " k"]:
        """Quantiles of the pooled sample at the table's levels, kept apart where they coincide."""
        n = self.values.size
        quantiles = np.interp(ndtr(LEVELS) * (n - 1), np.arange(n), self.values)
        gaps = np.maximum(np.diff(quantiles), _LEAST_GAP)
        return np.concatenate([quantiles[:1], quantiles[0] + np.cumsum(gaps)])


class AdaptiveMargins(ScalingRule):
    """Standardise, then give a normal margin to the columns that gain by it.

    The table is that of the pooled sample. It is used where both samples have the same margin
    (always so for mutual information): the path then starts and ends with normal margins; and
    where either sample has heavy tails, which no path of finite moments follows. Other columns are
    left alone: pooling two margins far apart would squeeze the gap between them, and a margin that
    is normal already would only get the noise of a table, at its cost in every step.

    Attributes:
        same_margin: Kolmogorov–Smirnov distance, beyond sampling noise, up to which two margins
            count as the same.
        normal_margin: Kolmogorov–Smirnov distance from a normal margin, sampling noise included,
            up to which it counts as one: some ten thousand rows show as much, fewer do not.
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
        y_0, y_1 = plain(x_0), plain(x_1)  # far values drawn in
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
