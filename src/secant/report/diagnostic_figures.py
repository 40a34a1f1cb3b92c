"""Figures of a fit's diagnostics: calibration, and the columns that differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from secant.diagnostics import CalibrationCurve, RatioDiagnostics, top_drift
from secant.report.style import BLUE, INK, ORANGE, clean, label, saved
from secant.tasks.comparison_result import Comparison

__all__ = ["plot_calibration", "plot_drift"]

_MOST_BARS = 15


def plot_calibration(
    found: RatioDiagnostics | CalibrationCurve, path: Path | str | None = None
) -> Figure:
    """Observed against predicted log odds with two standard errors, the diagonal and the line (Q2).

    Args:
        found: the `diagnostics_` of a fitted estimator, or a curve by itself.
        path: where to save a picture; None saves none.
    """
    curve = found if isinstance(found, CalibrationCurve) else found.calibration
    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    axes = figure.subplots()
    clean(axes)
    ends = _calibration_range(curve)
    axes.plot(ends, ends, color=INK, linewidth=1.0, label="calibrated")
    line = curve.recalibration
    if line.is_known:
        fitted = line.intercept + line.slope * ends
        slope = f"recalibration, slope {line.slope:.2f} ± {line.slope_error:.2f}"
        axes.plot(ends, fitted, color=ORANGE, linewidth=1.4, linestyle="--", label=slope)
    _calibration_bins(axes, curve)
    axes.set_xlabel("predicted log odds of x_1 against x_0 (nats)")
    axes.set_ylabel("observed log odds (nats)")
    axes.set_title("Calibration of the log ratio on held-out rows", color=INK, fontsize=11)
    axes.legend(frameon=False, loc="upper left", fontsize=9)
    return saved(figure, path)


def _calibration_range(curve: CalibrationCurve) -> Float[np.ndarray, " 2"]:
    """From the lowest to the highest prediction, with a margin."""
    if not curve.n_bins:
        return np.array([-1.0, 1.0])
    low, high = float(curve.predicted.min()), float(curve.predicted.max())
    room = max(0.08 * (high - low), 0.2)
    return np.array([low - room, high + room])


def _calibration_bins(axes: Axes, curve: CalibrationCurve) -> None:
    full = ~curve.is_bound
    if full.any():
        axes.errorbar(
            curve.predicted[full],
            curve.observed[full],
            yerr=2.0 * curve.standard_error[full],
            fmt="o",
            color=BLUE,
            markersize=5,
            linewidth=1.2,
            capsize=2.5,
            label="held-out rows, ± 2 standard errors",
        )
    for empty, marker, sign, meaning in (
        (curve.counts_0 == 0, "^", -2.0, "rows of x_1 only: at least"),
        (curve.counts_1 == 0, "v", 2.0, "rows of x_0 only: at most"),
    ):
        if empty.any():
            bound = curve.observed[empty] + sign * curve.standard_error[empty]
            axes.scatter(
                curve.predicted[empty],
                bound,
                marker=marker,
                facecolor="white",
                edgecolor=BLUE,
                label=meaning,
                zorder=3,
            )


def plot_drift(
    found: Comparison | RatioDiagnostics,
    path: Path | str | None = None,
    *,
    n_features: int = _MOST_BARS,
) -> Figure:
    """The columns that differ most, one bar each, the largest on top.

    For a comparison, the contribution of each column in nats, with two standard errors; for
    diagnostics, the Kolmogorov–Smirnov distance of each column.

    Args:
        found: by `compare`, or the `diagnostics_` of a fitted estimator.
        path: where to save a picture; None saves none.
        n_features: maximum number of bars.
    """
    bars = _contributions(found) if isinstance(found, Comparison) else _distances(found)
    shown = bars.first(n_features)
    figure = Figure(figsize=(7.2, 1.7 + 0.32 * max(len(shown.names), 3)), layout="constrained")
    axes = figure.subplots()
    clean(axes)
    axes.grid(visible=False, axis="y")
    where = np.arange(len(shown.names))
    axes.barh(where, shown.values, height=0.66, color=BLUE)
    if shown.errors is not None:
        axes.errorbar(
            shown.values, where, xerr=2.0 * shown.errors, fmt="none", color=INK, capsize=2.5
        )
    axes.set_yticks(where, [label(name) for name in shown.names])
    axes.invert_yaxis()
    axes.axvline(0.0, color=INK, linewidth=0.8)
    # In figure coordinates: long names leave the axes too narrow for the text.
    figure.supxlabel(shown.label, color=INK, fontsize=10)
    hidden = len(bars.names) - len(shown.names)
    more = f" ({hidden} smaller not shown)" if hidden else ""
    figure.suptitle(f"{shown.title}{more}", color=INK, fontsize=11)
    return saved(figure, path)


class _Bars(NamedTuple):
    """One bar per column, the largest first."""

    title: str
    label: str
    names: Sequence[str]
    values: Float[np.ndarray, " k"]
    errors: Float[np.ndarray, " k"] | None

    def first(self, n: int) -> _Bars:
        errors = None if self.errors is None else self.errors[:n]
        return self._replace(names=self.names[:n], values=self.values[:n], errors=errors)


def _contributions(found: Comparison) -> _Bars:
    by_gradient = found.features[0].gradient is not None
    how = "integrated gradients" if by_gradient else "column replaced by reference draws"
    return _Bars(
        f"Contributions to the difference (p-value {found.p_value:.2g})",
        f"mean contribution to the log ratio (nats, ± 2 s.e.; {how})",
        [c.name for c in found.features],
        np.array([c.contribution for c in found.features]),
        np.array([c.contribution_error for c in found.features]),
    )


def _distances(found: RatioDiagnostics) -> _Bars:
    columns = top_drift(found.drift, len(found.drift))
    return _Bars(
        "Columns that differ between x_0 and x_1",
        "Kolmogorov–Smirnov distance (0: the same, 1: apart)",
        [c.name for c in columns],
        np.array([c.ks_distance for c in columns]),
        None,
    )
