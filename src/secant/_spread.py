"""Robust location and scale of the columns of two samples.

Means and squares are computed in units of a power of two near each column's largest value, so that
they neither overflow nor lose precision. Outliers that would dominate the scale are clipped.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from secant.exceptions import ConstantColumnWarning, OutlierWarning

_FEWEST_ROWS = 10  # minimum rows of each sample, so that a tenth is at least one row
_ROWS_LOOKED_AT = 2000  # maximum rows of each sample used for the range of most rows
_TOO_WIDE = 100.0  # standard deviations per range: normal column 0.4, 100,000 Cauchy rows 50
_REACH = 3.0  # ranges: farther out than 9 standard deviations of a normal column
_ROUNDING = 8.0 * np.finfo(np.float64).eps  # relative width below which a column counts as constant

TwoSamples = tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "m d"]]
PerColumn = Float[np.ndarray, " d"]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of two samples pooled with equal weight, column by column.

    Attributes:
        center: the mean.
        scale: the standard deviation; infinity for a constant column.
        has_outliers: columns whose standard deviation would be dominated by a few values. For mean
            and deviation, these were clipped at three ranges beyond most of the rows.
    """

    center: PerColumn
    scale: PerColumn
    has_outliers: Bool[np.ndarray, " d"]

    @classmethod
    def of(cls, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]) -> Spread:
        """Compute the spread, with a warning for constant columns and for outliers."""
        with np.errstate(over="ignore"):  # differences of the largest floats
            return cls._of((doubled(x_0), doubled(x_1)))

    @classmethod
    def _of(cls, pair: TwoSamples) -> Spread:
        constant = _is_constant(pair)
        _warn_of_constants(constant)
        center, scale = moments(*pair)
        far = _has_outliers(pair, scale) & ~constant
        if far.any():
            those = pair[0][:, far], pair[1][:, far]
            drawn_in = _drawn_in(those)
            _warn_of_outliers(far, those, drawn_in)
            center[far], scale[far] = moments(*drawn_in)
        # Divided by infinity, any value of a constant column becomes 0, unseen values included.
        return cls(center, np.where(constant, np.inf, scale), far)


def doubled(x: np.ndarray) -> Float[np.ndarray, "n d"]:
    """Convert to one precision and memory order, on which sums and classifiers depend."""
    return np.asarray(x, dtype=np.float64, order="C")


def _is_constant(pair: TwoSamples) -> Bool[np.ndarray, " d"]:
    """Compare the extremes, because the mean of equal values has a rounding error."""
    least, most = _extremes(pair)
    largest = np.maximum(np.abs(least), np.abs(most))
    return most / 2.0 - least / 2.0 <= _ROUNDING * largest / 2.0  # halves: doubles may overflow


def _extremes(pair: TwoSamples) -> tuple[PerColumn, PerColumn]:
    least, most = np.minimum, np.maximum
    return least(*(x.min(axis=0) for x in pair)), most(*(x.max(axis=0) for x in pair))


def moments(*samples: Float[np.ndarray, "_ d"]) -> tuple[PerColumn, PerColumn]:
    """Mean and standard deviation of samples pooled with equal weight, in float64.

    In a unit near each column's largest value, so that squares of 1e300 do not overflow.
    """
    largest = [np.maximum(np.abs(x.min(axis=0)), np.abs(x.max(axis=0))) for x in samples]
    exponent = np.frexp(np.max(largest, axis=0))[1]
    unit = np.ldexp(1.0, exponent - 1)
    scaled = [x / unit for x in samples]
    center = np.mean([y.mean(axis=0) for y in scaled], axis=0)
    squares = [np.mean((y - center) ** 2, axis=0) for y in scaled]
    return center * unit, np.sqrt(np.mean(squares, axis=0)) * unit


def _has_outliers(pair: TwoSamples, scale: PerColumn) -> Bool[np.ndarray, " d"]:
    if min(x.shape[0] for x in pair) < _FEWEST_ROWS:
        return np.zeros(scale.size, dtype=bool)
    low, high = _range(pair)
    return scale / _TOO_WIDE > high - low


def _range(pair: TwoSamples) -> tuple[PerColumn, PerColumn]:
    """The range of the middle 80 % of either sample; if that is one value, of the other values."""
    some = [x[:: -(-x.shape[0] // _ROWS_LOOKED_AT)] for x in pair]
    tenths = [np.quantile(x, [0.1, 0.9], axis=0) for x in some]
    low, high = np.minimum(*(t[0] for t in tenths)), np.maximum(*(t[1] for t in tenths))
    for column in np.flatnonzero(low == high):
        values = np.concatenate([x[:, column] for x in pair])
        apart = values[values != low[column]]
        if apart.size:
            middle = np.quantile(apart, [0.1, 0.9])
            low[column] = min(low[column], middle[0])
            high[column] = max(high[column], middle[1])
    return low, high


def _drawn_in(pair: TwoSamples) -> TwoSamples:
    low, high = _range(pair)
    reach = _REACH * (high - low)
    first, second = (np.clip(x, low - reach, high + reach) for x in pair)
    return first, second


def _warn_of_outliers(far: Bool[np.ndarray, " d"], pair: TwoSamples, drawn_in: TwoSamples) -> None:
    n_far = sum(int((x[:, 0] != y[:, 0]).sum()) for x, y in zip(pair, drawn_in, strict=True))
    warnings.warn(
        f"{int(far.sum())} of {far.size} columns hold values so far from the others that they "
        f"alone would set the scale (first: column {int(np.flatnonzero(far)[0])}, with {n_far} "
        f"such value(s) in {sum(x.shape[0] for x in pair)} rows). They are compressed by "
        "a logarithm, and the ratio near them is unreliable. If they are errors, drop them.",
        OutlierWarning,
        stacklevel=2,
    )


def _warn_of_constants(constant: Bool[np.ndarray, " d"]) -> None:
    if constant.any():
        warnings.warn(
            f"{int(constant.sum())} of {constant.size} columns hold one value in both samples "
            f"(first: column {int(np.flatnonzero(constant)[0])}); they do not affect the ratio "
            "and can be dropped.",
            ConstantColumnWarning,
            stacklevel=2,
        )
