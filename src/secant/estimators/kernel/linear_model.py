"""Linear models of the ratio on Gaussian kernels: features, weighted rows and solvers."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TypeVar

import jax
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cho_factor
from scipy.spatial.distance import cdist

from secant.samples import Sample
from secant.scaling import Scaling

AnyArray = TypeVar("AnyArray", np.ndarray, jax.Array)
Values = Float[np.ndarray, " n"]  # one a row
Ridges = Float[np.ndarray, " k"]  # candidates
Coefficients = Float[np.ndarray, " b"]

# Directions of the kernel matrix with less than this share of the largest are rounding noise.
_LEAST_EIGENVALUE = 1e-12


def squared_distances(
    x: Float[np.ndarray, "n d"], centers: Float[np.ndarray, "b d"]
) -> Float[np.ndarray, "n b"]:
    """‖x − c_k‖² for all rows and centres."""
    return cdist(x, centers, "sqeuclidean")


def median_distance(squared: Float[np.ndarray, "n b"]) -> float:
    """The median of the positive distances, the unit in which bandwidths are searched; or 1."""
    positive = squared[squared > 0.0]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0


@dataclass(frozen=True)
class GaussianBasis:
    """φ_k(x) = exp(−‖x − c_k‖²/2σ²), or combinations of them.

    Attributes:
        centers: c_k, shape (b, d).
        bandwidth: σ.
        mixing: None for the kernels themselves, or a matrix (b, m) of m combinations.
    """

    centers: Float[np.ndarray, "b d"]
    bandwidth: float
    mixing: Float[np.ndarray, "b m"] | None = None

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """Features of some rows."""
        return self.at(squared_distances(x, self.centers))

    def at(self, squared: AnyArray, xp: ModuleType = np) -> AnyArray:
        """Features (n, m) of rows at these squared distances (n, b); by NumPy or JAX."""
        kernels = xp.exp(squared * (-0.5 / self.bandwidth**2))
        mixed: AnyArray = kernels if self.mixing is None else kernels @ self.mixing
        return mixed

    def orthonormal(self) -> GaussianBasis:
        """A basis of the same span, orthonormal in the Hilbert space: ‖Φθ‖ = ‖θ‖ (D4)."""
        values, vectors = np.linalg.eigh(replace(self, mixing=None)(self.centers))
        kept = values > _LEAST_EIGENVALUE * values[-1]
        return replace(self, mixing=vectors[:, kept] / np.sqrt(values[kept]))


_NUMBERS_AT_ONCE = 1 << 22  # features held together: 32 MB in float64


@dataclass(frozen=True)
class Rows:
    """Rows of the two samples, first those of x_0, with their shares.

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


FeatureBlocks = Callable[[], Iterator[FeatureRows]]  # called once per pass


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

    def feature_blocks(self, basis: GaussianBasis, alpha: float) -> FeatureBlocks:
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


class Solver(abc.ABC):
    """A way to choose θ in r(x) = φ(x)ᵀθ from rows with weights u and v."""

    @abc.abstractmethod
    def coefficients(self, blocks: FeatureBlocks, ridges: Ridges) -> Float[np.ndarray, "b k"]:
        """θ for each ridge."""

    def left_out(self, rows: FeatureRows, ridges: Ridges) -> Float[np.ndarray, "n k"]:
        """The fitted value at every row from a fit without that row, for each ridge."""
        raise NotImplementedError  # the settings refuse leave-one-out where there is no formula

    def local(self, rows: FeatureRows, fitted: Values) -> tuple[Values, Values]:
        """Minus slope and curvature of each row's loss in its fitted value."""
        raise NotImplementedError  # the settings refuse the balancing of fits that have no ridge

    def criterion(
        self, log_ratio: Float[np.ndarray, "n k"], share_0: Values, share_1: Values
    ) -> Ridges:
        """The loss of held-out log ratios by which candidates are compared, proper for any.

        The logistic loss E_0[softplus(log r)] + E_1[softplus(−log r)].
        """
        return share_0 @ np.logaddexp(0.0, log_ratio) + share_1 @ np.logaddexp(0.0, -log_ratio)

    def out_of_fold(
        self, rows: FeatureRows, ridges: Ridges, folds: Int[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n k"]:
        """The fitted value at every row from a fit to the other folds; −1 is in all of them."""
        values = np.empty((folds.size, ridges.size))
        if (folds < 0).any():
            values[folds < 0] = rows.features[folds < 0] @ self.coefficients(rows.blocks, ridges)
        for fold in range(int(folds.max()) + 1):
            out = folds == fold
            theta = self.coefficients(rows.kept(~out).blocks, ridges)
            values[out] = rows.features[out] @ theta
        return values


def curvature_factor(rows: FeatureRows, weight: Values, ridge: float) -> Float[np.ndarray, "b b"]:
    """The lower Cholesky factor of Σ w φφᵀ + ρI; what stands above the diagonal is arbitrary."""
    curvature = rows.features.T @ (rows.features * weight[:, None])
    np.fill_diagonal(curvature, curvature.diagonal() + ridge)
    return np.asarray(cho_factor(curvature, lower=True)[0])


_HALVINGS = 30
_SUFFICIENT = 0.1  # share of the decrease its slope promises that a step must bring


def line_search(
    objective: Callable[[Coefficients], float],
    start: Coefficients,
    direction: Coefficients,
    *,
    value: float,
    slope: float,
) -> tuple[Coefficients, bool]:
    """The longest of the steps 1, ½, ¼, … that lowers an objective, and whether one does.

    Args:
        objective: of the coefficients.
        start: the coefficients so far.
        direction: of the step.
        value: the objective at the start.
        slope: its slope there along the direction.
    """
    size = 1.0
    for _ in range(_HALVINGS):
        moved = start + size * direction
        if objective(moved) <= value + _SUFFICIENT * size * slope:
            return moved, True
        size *= 0.5
    return moved, False
