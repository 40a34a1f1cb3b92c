"""Canonical coordinates: functions of either block that are most correlated with each other (I4).

A network learns slowly what a regression finds at once: that the radius of x goes with that of y,
or a turned pair of columns with another. The pairs of functions come from ridge-regularised
canonical correlations of random Fourier features; what they miss is left to the network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, ndtri
from scipy.stats import rankdata

from secant.anchoring import AnchorRule
from secant.gaussians import Gaussian
from secant.models.anchor import GaussianAnchor
from secant.paths import Path
from secant.samples import Prepared

__all__ = ["BlockMoments", "CanonicalStart", "gaussian_bound"]

_WAVES = 200  # random features of a block, beside its columns
_SCALES = (0.7, 1.0, 1.5, 2.5)  # of their frequencies, in units of 1/√(2d)
_RIDGES = (1e-3, 1e-2, 1e-1)
_MOST_PAIRS = 6
_HELD_OUT = 0.25  # of the rows, to choose the ridge and the number of pairs by
_ROWS_FOR_NORMALISER = 600
_CLEARLY = 0.003  # nats by which canonical coordinates must beat the columns
_LEAST_VARIANCE = 1e-6
_DIGITS = 6  # of coordinates of unit variance: what differs by less is a tie

Rows = Float[np.ndarray, "n _"]


class BlockMoments(AnchorRule):
    """The Gaussian path between independent blocks and the joint, over some of the columns.

    p_0 has p_1's means and covariances within blocks and none between them, so that re-pairing
    adds no noise; columns that are in neither list have one and the same variance in both.

    Attributes:
        first: columns of the first block.
        second: columns of the second.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]

    def fitted(self, prepared: Prepared, path: Path, seed: int) -> GaussianAnchor:
        """The anchor for these samples."""
        del seed
        joint: Gaussian = prepared.gaussian_1
        apart = np.diag(np.diag(joint.covariance))
        for block in (self.first, self.second):
            apart[np.ix_(block, block)] = joint.covariance[np.ix_(block, block)]
        together, both = apart.copy(), (*self.first, *self.second)
        together[np.ix_(both, both)] = joint.covariance[np.ix_(both, both)]
        return GaussianAnchor.fitted(joint.mean, apart, joint.mean, together, path)


@dataclass(frozen=True)
class _Waves:
    """Columns and random Fourier features of one block, rotated to be uncorrelated."""

    frequencies: Float[np.ndarray, "d m"]
    phases: Float[np.ndarray, " m"]

    @classmethod
    def drawn(cls, d: int, rng: np.random.RandomState) -> _Waves:
        scales = rng.choice(_SCALES, size=_WAVES) / np.sqrt(2.0 * d)
        frequencies = rng.normal(size=(d, _WAVES)) * scales
        return cls(frequencies, rng.uniform(0.0, 2.0 * np.pi, size=_WAVES))

    def __call__(self, x: Rows) -> Rows:
        return np.concatenate([x, np.cos(x @ self.frequencies + self.phases)], axis=1)


@dataclass(frozen=True)
class _Spectrum:
    """Mean, variances and principal directions of features."""

    mean: Float[np.ndarray, " m"]
    variance: Float[np.ndarray, " m"]
    vectors: Float[np.ndarray, "m m"]

    @classmethod
    def of(cls, features: Rows) -> _Spectrum:
        mean = features.mean(axis=0)
        centred = features - mean
        variance, vectors = np.linalg.eigh(centred.T @ centred / len(features))
        return cls(mean, np.maximum(variance, 0.0), vectors)

    def rotated(self, features: Rows) -> Rows:
        """Uncorrelated combinations."""
        return (features - self.mean) @ self.vectors


Table = tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]  # values and their normal scores


def _score_tables(u: Rows) -> list[Table]:
    """Normal scores of each column's values; ties share theirs, so rounding parts none of them."""
    rounded = np.round(u, _DIGITS)
    scores = ndtri((rankdata(rounded, axis=0) - 0.5) / len(u))
    found = []
    for column, score in zip(rounded.T, scores.T, strict=True):
        values, places = np.unique(column, return_index=True)
        found.append((values, score[places]))
    return found


def _scored(u: Rows, tables: list[Table]) -> Rows:
    """Columns by their tables, level beyond the ends."""
    return np.stack([np.interp(c, *table) for c, table in zip(u.T, tables, strict=True)], axis=1)


@dataclass(frozen=True)
class _Directions:
    """The pairs of functions, as combinations of rotated features of either block."""

    waves: tuple[_Waves, _Waves]
    spectra: tuple[_Spectrum, _Spectrum]
    weights: tuple[Float[np.ndarray, "m k"], Float[np.ndarray, "m k"]]

    def __call__(self, blocks: tuple[Rows, Rows], n_pairs: int) -> tuple[Rows, Rows]:
        first, second = (
            spectrum.rotated(waves(block)) @ weights[:, :n_pairs]
            for waves, spectrum, weights, block in zip(
                self.waves, self.spectra, self.weights, blocks, strict=True
            )
        )
        return first, second


def _directions(
    waves: tuple[_Waves, _Waves], blocks: tuple[Rows, Rows]
) -> dict[float, _Directions]:
    """Canonical directions at every ridge λ: singular vectors of (C_x+λ)^-½ C_xy (C_y+λ)^-½."""
    features = [wave(block) for wave, block in zip(waves, blocks, strict=True)]
    spectra = _Spectrum.of(features[0]), _Spectrum.of(features[1])
    rotated = [s.rotated(f) for s, f in zip(spectra, features, strict=True)]
    cross = rotated[0].T @ rotated[1] / len(rotated[0])
    found = {}
    for ridge in _RIDGES:
        scale_x, scale_y = (1.0 / np.sqrt(s.variance + ridge) for s in spectra)
        left, _, right = np.linalg.svd(scale_x[:, None] * cross * scale_y, full_matrices=False)
        weights = (
            scale_x[:, None] * left[:, :_MOST_PAIRS],
            scale_y[:, None] * right.T[:, :_MOST_PAIRS],
        )
        found[ridge] = _Directions(waves, spectra, weights)
    return found


def gaussian_bound(train: tuple[Rows, Rows], held: tuple[Rows, Rows]) -> float:
    """What held-out rows say of the Gaussian log ratio of two blocks, normalised: (I1).

    `log g(x, y) = c − ½ xᵀA x − ½ yᵀB y − xᵀC y`, so that all pairs of rows cost one product, and
    the normaliser is a mean over all of them that are not rows. The constant c drops out.
    """
    d = train[0].shape[1]
    rows = np.concatenate(train, axis=1)
    covariance = np.atleast_2d(np.cov(rows.T)) + _LEAST_VARIANCE * np.eye(rows.shape[1])
    inside = covariance[:d, :d], covariance[d:, d:]
    precision = np.linalg.inv(covariance)
    x, y = (b - t.mean(axis=0) for b, t in zip(held, train, strict=True))
    alone_x = _square(x, precision[:d, :d] - np.linalg.inv(inside[0]))
    alone_y = _square(y, precision[d:, d:] - np.linalg.inv(inside[1]))
    turned = x @ precision[:d, d:]
    joint = alone_x + alone_y - np.sum(turned * y, axis=1)
    m = min(len(x), _ROWS_FOR_NORMALISER)
    pairs = alone_x[:m, None] + alone_y[:m] - turned[:m] @ y[:m].T
    np.fill_diagonal(pairs, -np.inf)
    return float(joint.mean() - logsumexp(pairs) + np.log(m * (m - 1.0)))


def _optimism(train: tuple[Rows, Rows]) -> float:
    """What p·q fitted covariances cost held-out rows, in nats: a wide table is no worse for it."""
    (n, p), q = train[0].shape, train[1].shape[1]
    return 0.5 * p * q / n


def _square(x: Rows, matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, " n"]:
    return np.asarray(-0.5 * np.einsum("ij,ij->i", x @ matrix, x))


@dataclass(frozen=True)
class CanonicalStart:
    """Coordinates in which learning starts: the columns and, if they help, canonical ones.

    Attributes:
        n_columns: of either block.
        n_pairs: canonical coordinates of either block; 0 where the columns do as well.
        bound: nats that held-out rows show in the chosen coordinates.
    """

    n_columns: tuple[int, int]
    n_pairs: int
    bound: float
    _canonical: _Directions
    _tables: tuple[list[Table], list[Table]]

    @classmethod
    def fitted(cls, x: Rows, y: Rows, rng: np.random.RandomState) -> CanonicalStart:
        """Choose ridge and number of pairs on some of the rows, then use them all."""
        waves = _Waves.drawn(x.shape[1], rng), _Waves.drawn(y.shape[1], rng)
        order = rng.permutation(len(x))
        held, train = np.split(order, [int(_HELD_OUT * len(x))])
        blocks, apart = (x[train], y[train]), (x[held], y[held])
        plain = gaussian_bound(blocks, apart) + _optimism(blocks)
        best, choice = -np.inf, (_RIDGES[-1], 1)
        for ridge, directions in _directions(waves, blocks).items():
            inside, outside = (directions(b, _MOST_PAIRS) for b in (blocks, apart))
            tables = [_score_tables(u) for u in inside]
            inside, outside = (
                (_scored(u, tables[0]), _scored(v, tables[1])) for u, v in (inside, outside)
            )
            for k in range(1, inside[0].shape[1] + 1):
                some, others = ((u[:, :k], v[:, :k]) for u, v in (inside, outside))
                bound = gaussian_bound(some, others) + _optimism(some)
                if bound > best:
                    best, choice = bound, (ridge, k)
        ridge, n_pairs = choice
        canonical = _directions(waves, (x, y))[ridge]
        first, second = (_score_tables(u) for u in canonical((x, y), n_pairs))
        is_better = best > plain + _CLEARLY
        return cls(
            (x.shape[1], y.shape[1]),
            n_pairs if is_better else 0,
            max(best, plain),
            canonical,
            (first, second),
        )

    def __call__(self, x: Rows, y: Rows) -> list[Rows]:
        """Both blocks in these coordinates: their columns, then the canonical ones."""
        if not self.n_pairs:
            return [x, y]
        pairs = self._canonical((x, y), self.n_pairs)
        return [
            np.concatenate([block, _scored(u, tables)], axis=1)
            for block, tables, u in zip((x, y), self._tables, pairs, strict=True)
        ]

    @property
    def anchor(self) -> BlockMoments:
        """The Gaussian log ratio of the canonical coordinates, or of the columns without them."""
        d, e = self.n_columns
        k = self.n_pairs
        if not k:
            return BlockMoments(tuple(range(d)), tuple(range(d, d + e)))
        return BlockMoments(tuple(range(d, d + k)), tuple(range(d + k + e, d + e + 2 * k)))
