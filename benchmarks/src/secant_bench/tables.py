"""Numbers and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from secant.report.markdown import table

__all__ = ["figure", "geometric_mean", "table", "whole"]


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean of the known values, each at least 0.001."""
    known = [max(v, 1e-3) for v in values if np.isfinite(v)]
    return float(np.exp(np.mean(np.log(known)))) if known else float("nan")


def figure(value: float) -> str:
    """A number with digits according to its size."""
    if not np.isfinite(value):
        return "–"
    digits = 4 if abs(value) < 0.1 else 2 if abs(value) < 10.0 else 1
    return f"{value:.{digits}f}"


def whole(value: float) -> str:
    """A number without decimals."""
    return f"{value:.0f}" if np.isfinite(value) else "–"
