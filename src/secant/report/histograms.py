"""Histograms with robust bins, and their outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from secant.report.charts import Axis, Chart, Line, path_of, plane
from secant.report.numbers import number

__all__ = ["distribution_chart", "histogram_axes", "histogram_edges", "steps_of"]

Values = Float[np.ndarray, " n"]

_BINS = 44
_OUTERMOST = 0.005  # share of the rows at either end that is collected in the end bins
_FENCE = 4.0  # interquartile ranges beyond the middle half; a normal sample has no row there


def histogram_edges(values: Values) -> Values:
    """Equal bins without outliers: the outermost 1 %, and rows far from the middle half."""
    finite = values[np.isfinite(values)]
    low, quarter, rest, high = np.quantile(finite, [_OUTERMOST, 0.25, 0.75, 1.0 - _OUTERMOST])
    reach = _FENCE * (rest - quarter)
    if reach > 0.0:
        low, high = max(low, quarter - reach), min(high, rest + reach)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, _BINS + 1)


def histogram_axes(
    label: str, edges: Values, samples: Sequence[Values]
) -> tuple[Axis, Axis, list[Values]]:
    """Axes for histograms of several samples, and each one's heights in per cent of its rows."""
    heights = [_heights(values, edges) for values in samples]
    top = max(h.max() for h in heights)
    x, y = plane((label, edges), ("share of rows (%)", [0.0, top]), n_ticks=(6, 4))
    # Without a margin below 0.
    return x, replace(y, low=0.0, ticks=tuple(t for t in y.ticks if t >= 0.0)), heights


def steps_of(x: Axis, y: Axis, edges: Values, heights: Values) -> str:
    """The outline of a histogram."""
    corners = [(x(edges[0]), y.start)]
    for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
        corners += [(x(left), y(height)), (x(right), y(height))]
    return path_of([*corners, (x(edges[-1]), y.start)])


def _heights(values: Values, edges: Values) -> Values:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    return np.asarray(100.0 * counts / values.size)


def distribution_chart(
    values: Float[np.ndarray, " n"], *, title: str, label: str, caption: str
) -> Chart:
    """One histogram, as shares of its rows; outliers are gathered in the end bins."""
    edges = histogram_edges(values)
    x, y, (shares,) = histogram_axes(label, edges, [values])
    low, middle, high = (float(v) for v in np.quantile(values, [0.05, 0.5, 0.95]))
    return Chart(
        title,
        f"A histogram of {values.size} values: median {number(middle)}, nine of ten between "
        f"{number(low)} and {number(high)}.",
        x,
        y,
        [Line(steps_of(x, y, edges, shares), "area-zero")],
        (),
        f"Mean {number(float(values.mean()))}, median {number(middle)}. {caption} Outliers are "
        "gathered in the end bins.",
    )
