"""Concatenated rows of both samples, with their weights in numerator and denominator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from secant.estimators.kernel.basis import GaussianBasis
from secant.samples import Sample
from secant.scaling import Scaling

__all__ = ["Blocks", "FeatureRows", "Rows", "WholeSample"]

_NUMBERS_AT_ONCE = 1 << 22  # features held together: 32 MB in float64


@dataclass(frozen=True)
class Rows:
    """Some rows x of both samples, first those of x_0.

    Attributes:
        x: scaled rows (n, d).
        share_0: each row's share of x_0, 0 for rows of x_1.
        share_1: each row's share of x_1, 0 for rows of x_0.
    """

    x: Float[np.ndarray, "n d"]
    share_0: Float[np.ndarray, " n"]
    share_1: Float[np.ndarray, " n"]


@dataclass(frozen=True)
class FeatureRows:
    """Features of rows with the weights u, v of E_1[f] = Σ u f and E_α[f] = Σ v f.

    E_α is the mean over the denominator: p_0, or α p_1 + (1 − α) p_0 (D2).
    """

    features: Float[np.ndarray, "n b"]
    numerator: Float[np.ndarray, " n"]
    denominator: Float[np.ndarray, " n"]

    def kept(self, rows: Bool[np.ndarray, " n"]) -> FeatureRows:
        """Some of the rows, their weights rescaled to sum to 1."""
        u, v = self.numerator[rows], self.denominator[rows]
        return FeatureRows(self.features[rows], u / u.sum(), v / v.sum())

    def blocks(self) -> Iterator[FeatureRows]:
        """All rows in one block."""
        yield self


Blocks = Callable[[], Iterator[FeatureRows]]  # may be asked for several passes


@dataclass(frozen=True)
class WholeSample:
    """Two samples of any size, in memory or on disk, read a block at a time."""

    sample_0: Sample
    sample_1: Sample
    scaling: Scaling

    def rows(self, size: int) -> Iterator[Rows]:
        """All rows in blocks of at most this many."""
        for which, sample in enumerate((self.sample_0, self.sample_1)):
            shares = _shares(sample, np.arange(sample.rows.shape[0]))
            for start in range(0, shares.size, size):
                block = slice(start, start + size)
                yield self._rows(which, sample.rows[block], shares[block])

    def feature_blocks(self, basis: GaussianBasis, alpha: float) -> Blocks:
        """Features of all rows, recomputed in each pass."""
        size = max(256, _NUMBERS_AT_ONCE // basis.centers.shape[0])

        def passed() -> Iterator[FeatureRows]:
            for rows in self.rows(size):
                yield featured(rows, basis(rows.x), alpha)

        return passed

    def thinned(self, most: int, rng: np.random.Generator) -> Rows:
        """At most this many rows of each sample, in memory; rows of weight 0 are left out."""
        parts = []
        for which, sample in enumerate((self.sample_0, self.sample_1)):
            index = _some(sample, most, rng)
            parts.append(self._rows(which, sample.rows[index], _shares(sample, index)))
        return Rows(*(np.concatenate([getattr(p, f) for p in parts]) for f in _FIELDS))

    def _rows(self, which: int, x: np.ndarray, share: Float[np.ndarray, " n"]) -> Rows:
        zero = np.zeros_like(share)
        shares = (share, zero) if which == 0 else (zero, share)
        return Rows(self.scaling.precise(x), *shares)


_FIELDS = ("x", "share_0", "share_1")


def featured(rows: Rows, features: Float[np.ndarray, "n b"], alpha: float) -> FeatureRows:
    """These rows with their features and the weights of numerator and denominator (D2)."""
    denominator = alpha * rows.share_1 + (1.0 - alpha) * rows.share_0
    return FeatureRows(features, rows.share_1, denominator)


def _some(sample: Sample, most: int, rng: np.random.Generator) -> Int[np.ndarray, " m"]:
    index = np.arange(sample.rows.shape[0])
    if sample.weights is not None:
        index = index[sample.weights > 0.0]
    return index if index.size <= most else np.sort(rng.choice(index, most, replace=False))


def _shares(sample: Sample, index: Int[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    if sample.weights is None:
        return np.full(index.size, 1.0 / index.size)
    weights = sample.weights[index]
    return weights / weights.sum()
