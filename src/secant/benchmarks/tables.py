"""Numbers and tables in Markdown."""

from __future__ import annotations

import numpy as np

from secant.report.markdown import table

__all__ = ["figure", "table", "whole"]


def figure(value: float) -> str:
    """A number with as many digits as its size deserves."""
    if not np.isfinite(value):
        return "–"
    digits = 4 if abs(value) < 0.1 else 2 if abs(value) < 10.0 else 1
    return f"{value:.{digits}f}"


def whole(value: float) -> str:
    """A number without decimals."""
    return f"{value:.0f}" if np.isfinite(value) else "–"
