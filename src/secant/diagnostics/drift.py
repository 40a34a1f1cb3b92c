"""Feature drift: the difference of the two samples column by column, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import ks_2samp

_MOST_ROWS = 10_000  # of each sample
_MOST_NUMBERS = 500_000  # of each sample: with many columns, fewer rows are used
_FEWEST_ROWS = 1000
_ROUNDING = 1e-12


@dataclass(frozen=True)
class FeatureDrift:
    """One column in both samples.

    Attributes:
        name: of the column.
        mean_shift: (mean of x_1 − mean of x_0)/√((s_0² + s_1²)/2): in pooled standard deviations.
        ks_distance: Kolmogorov–Smirnov, the largest difference of the distribution functions.
        p_value: of that distance, for this column alone.
    """

    name: str
    mean_shift: float
    ks_distance: float
    p_value: float


def named_columns(n_features: int, names: Sequence[str] | None = None) -> list[str]:
    """The names given, or "column 0" and so on."""
    if names is not None and len(names) == n_features:
        return [str(name) for name in names]
    return [f"column {i}" for i in range(n_features)]


def feature_drift(
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    names: Sequence[str] | None = None,
) -> tuple[FeatureDrift, ...]:
    """Every column of raw rows of both samples, in their order.

    Of more than 10 000 rows, or 500 000 numbers, evenly spaced rows are used.

    Args:
        x_0: raw rows (n, d).
        x_1: raw rows (m, d).
        names: of the columns; None counts them.
    """
    zero, one = (_thinned(x) for x in (x_0, x_1))
    shifts = _mean_shifts(zero, one)
    method = "exact" if zero.shape[0] * one.shape[0] == 1 else "asymp"  # which has none for 1 row
    tests = [ks_2samp(a, b, method=method) for a, b in zip(zero.T, one.T, strict=True)]
    return tuple(
        FeatureDrift(name, float(shift), float(test.statistic), float(test.pvalue))
        for name, shift, test in zip(
            named_columns(zero.shape[1], names), shifts, tests, strict=True
        )
    )


def top_drift(drift: Sequence[FeatureDrift], n: int = 5) -> list[FeatureDrift]:
    """The n columns that differ most, by their Kolmogorov–Smirnov distance."""
    return sorted(drift, key=lambda column: -column.ks_distance)[:n]


def _thinned(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "k d"]:
    most = min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_NUMBERS // x.shape[1]))
    if x.shape[0] > most:
        x = x[np.linspace(0, x.shape[0] - 1, most).astype(np.int64)]
    return np.asarray(x, dtype=np.float64)


def _mean_shifts(
    x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> Float[np.ndarray, " d"]:
    # From the first row, in units of the largest distance: 1e9 ± 1e-4 and 1e200 keep precision.
    # In quarters, because differences of the largest numbers would overflow.
    zero, one = x_0 / 4.0 - x_0[0] / 4.0, x_1 / 4.0 - x_0[0] / 4.0
    unit = np.maximum(np.abs(zero).max(axis=0), np.abs(one).max(axis=0))
    zero, one = (x / np.where(unit > 0.0, unit, 1.0) for x in (zero, one))
    spread = np.sqrt((zero.var(axis=0) + one.var(axis=0)) / 2.0)
    shift = one.mean(axis=0) - zero.mean(axis=0)
    # Two different constants are infinitely many standard deviations apart.
    apart = np.where(np.abs(shift) > _ROUNDING, np.copysign(np.inf, shift), 0.0)
    varied = spread > _ROUNDING
    return np.where(varied, shift / np.where(varied, spread, 1.0), apart)
