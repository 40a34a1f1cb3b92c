"""Mutual information from nearest neighbours, without training."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

__all__ = ["ksg"]

_Rows = NDArray[np.float64]


def ksg(x: ArrayLike, y: ArrayLike, k: int = 3) -> float:
    """The first estimator of Kraskov, Stögbauer and Grassberger, in nats.

    `MI ≈ ψ(k) + ψ(n) − (1/n) Σ_i [ψ(a_i + 1) + ψ(b_i + 1)]`, where r_i is the distance of row i to
    its k-th neighbour in (x, y), and a_i, b_i count the other rows nearer than r_i in x and in y.
    All distances are maxima over columns, each standardised first. Not clipped at 0.

    Args:
        x: (n, p), finite.
        y: (n, q), finite.
        k: Number of neighbours, in [1, n − 1]; more reduce the variance and increase the bias.

    Returns:
        The estimate.

    Raises:
        ValueError: If shapes disagree, a value is not finite, or `k` is out of range.

    References:
        Kraskov, Stögbauer and Grassberger (2004), Estimating mutual information.

    Examples:
        >>> x = np.random.default_rng(0).normal(size=(1000, 2))
        >>> abs(ksg(x, x[::-1])) < 0.2
        True
    """
    x, y = _standardised(x, "x"), _standardised(y, "y")
    n = x.shape[0]
    if y.shape[0] != n:
        raise ValueError(f"`y` must have {n} rows, as `x` has; got {y.shape[0]}.")
    if not 1 <= k < n:
        raise ValueError(f"`k` must lie in [1, n - 1] with n = {n} rows; got {k}.")
    radii = _distance_to_neighbour(np.hstack([x, y]), k)
    inside = digamma(_rows_within(x, radii)) + digamma(_rows_within(y, radii))
    return float(digamma(k) + digamma(n) - np.mean(inside))


def _standardised(rows: ArrayLike, name: str) -> _Rows:
    """Columns of mean 0 and standard deviation 1; a constant column stays constant."""
    rows = np.asarray(rows, np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"`{name}` must be finite, of shape (n, d); got shape {rows.shape}.")
    scale = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def _distance_to_neighbour(rows: _Rows, k: int) -> _Rows:
    """(n,) distance of each row to its k-th nearest other row."""
    # A row is its own nearest neighbour, so the k-th other one is number k + 1.
    distances, _ = cKDTree(rows).query(rows, k=[k + 1], p=np.inf)
    return np.asarray(distances[:, 0])


def _rows_within(rows: _Rows, radii: _Rows) -> NDArray[np.int64]:
    """(n,) rows strictly nearer than the radius, the row itself among them: a_i + 1."""
    strictly = np.nextafter(radii, 0.0)
    counts = cKDTree(rows).query_ball_point(rows, strictly, p=np.inf, return_length=True)
    return np.asarray(counts, np.int64)
