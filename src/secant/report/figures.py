"""Figures of fits and results as files, for papers and slides, with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from secant.diagnostics import CalibrationCurve, RatioDiagnostics, top_drift
from secant.report.drawing import (
    BLUE,
    INK,
    clean,
    draw_calibration,
    draw_log_ratios,
    draw_secants,
    draw_training,
    label,
    trained_fits,
)
from secant.tasks.comparison_result import Comparison
from secant.tasks.cross_fitting import FitRecord
from secant.tasks.path_picture import PathPicture

_MOST_BARS = 15


def write_figures(
    folder: Path | str, comparison: Comparison, *, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write every figure of a comparison; returns the paths.

    Args:
        folder: created if absent.
        comparison: by `secant.compare`.
        formats: endings that matplotlib knows.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    names = comparison.sample_names
    logs = comparison.log_ratio_0, comparison.log_ratio_1
    writers: dict[str, Callable[[Path], object]] = {
        "log-ratio": lambda path: histogram_figure(
            *logs, path, title="Log ratio of every row", labels=names
        ),
        "columns": partial(plot_drift, comparison),
        "calibration": partial(plot_calibration, comparison.calibration),
    }
    if trained_fits(comparison.fits):
        writers["training"] = partial(plot_training, comparison.fits)
    if comparison.path is not None:
        writers["secants"] = partial(plot_secants, comparison.path, labels=names)
    paths = [place / f"{name}.{ending}" for ending in formats for name in writers]
    for path in paths:
        writers[path.stem](path)
    return paths


def plot_calibration(
    found: RatioDiagnostics | CalibrationCurve, path: Path | str | None = None
) -> Figure:
    """Observed against predicted log odds with two standard errors, the diagonal and the line (Q2).

    Args:
        found: the `diagnostics_` of a fitted estimator, or a curve by itself.
        path: where to save a picture; None saves none.
    """
    curve = found if isinstance(found, CalibrationCurve) else found.calibration
    title = "Calibration of the log ratio on held-out rows"
    return _figure(partial(draw_calibration, curve=curve), title, path, size=(5.6, 5.2))


def plot_training(fits: Sequence[FitRecord], path: Path | str | None = None) -> Figure | None:
    """The loss by steps, one line per fit; None if no fit was trained by steps."""
    trained = trained_fits(fits)
    if not trained:
        return None
    return _figure(partial(draw_training, fits=trained), "Training, one line per fit", path)


def plot_secants(
    picture: PathPicture,
    path: Path | str | None = None,
    *,
    labels: tuple[str, str] = ("x_0", "x_1"),
) -> Figure:
    """log p_t − log p_0 of typical rows along the path, each with its secant.

    Args:
        picture: the `path` of a comparison.
        path: where to save a picture; None saves none.
        labels: names of the samples.
    """
    title = "Typical rows along the path, and their secants"
    return _figure(partial(draw_secants, picture=picture, names=labels), title, path)


def histogram_figure(
    log_ratio_0: Float[np.ndarray, " n"],
    log_ratio_1: Float[np.ndarray, " m"],
    path: Path | str | None,
    *,
    title: str,
    labels: tuple[str, str],
) -> Figure:
    """The log ratio over rows of both samples; outliers are collected in the end bins."""
    draw = partial(draw_log_ratios, zero=log_ratio_0, one=log_ratio_1, names=labels)
    return _figure(draw, title, path, size=(7.2, 3.8))


def _figure(
    draw: Callable[[Axes], None],
    title: str,
    path: Path | str | None,
    size: tuple[float, float] = (5.6, 3.8),
) -> Figure:
    """One drawing with a title, saved if there is a path."""
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    clean(axes)
    draw(axes)
    axes.set_title(title, color=INK, fontsize=11)
    return _saved(figure, path)


def _saved(figure: Figure, path: Path | str | None) -> Figure:
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


class Panel(NamedTuple):
    """Estimated against exact log ratios of one method, with a caption."""

    title: str
    exact: Float[np.ndarray, " n"]
    estimated: Float[np.ndarray, " n"]


def scatter_figure(panels: Sequence[Panel], path: Path) -> None:
    """One panel per method: estimated against exact log ratio, with the diagonal."""
    figure = Figure(figsize=(4.2 * len(panels), 4.4), layout="constrained")
    all_axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    everything = np.concatenate([p.exact for p in panels])
    low, high = np.quantile(everything, [0.001, 0.999])
    for axes, panel in zip(all_axes, panels, strict=True):
        clean(axes)
        axes.plot([low, high], [low, high], color=INK, linewidth=1.0, label="exact")
        axes.scatter(panel.exact, panel.estimated, s=5, alpha=0.35, color=BLUE, linewidths=0)
        axes.set_title(panel.title, color=INK, fontsize=11)
        axes.set_xlabel("exact log ratio (nats)")
    all_axes[0].set_ylabel("estimated log ratio (nats)")
    all_axes[0].legend(frameon=False, loc="upper left")
    _saved(figure, path)


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
    names, values = bars.names[:n_features], bars.values[:n_features]
    figure = Figure(figsize=(7.2, 1.7 + 0.32 * max(len(names), 3)), layout="constrained")
    axes = figure.subplots()
    clean(axes)
    axes.grid(visible=False, axis="y")
    where = np.arange(len(names))
    axes.barh(where, values, height=0.66, color=BLUE)
    if bars.errors is not None:
        reach = 2.0 * bars.errors[:n_features]
        axes.errorbar(values, where, xerr=reach, fmt="none", color=INK, capsize=2.5)
    axes.set_yticks(where, [label(name) for name in names])
    axes.invert_yaxis()
    axes.axvline(0.0, color=INK, linewidth=0.8)
    # In figure coordinates: long names leave the axes too narrow for the text.
    figure.supxlabel(bars.label, color=INK, fontsize=10)
    hidden = len(bars.names) - len(names)
    more = f" ({hidden} smaller not shown)" if hidden else ""
    figure.suptitle(f"{bars.title}{more}", color=INK, fontsize=11)
    return _saved(figure, path)


class _Bars(NamedTuple):
    """One bar per column, the largest first."""

    title: str
    label: str
    names: Sequence[str]
    values: Float[np.ndarray, " k"]
    errors: Float[np.ndarray, " k"] | None = None


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
        "Kolmogorov–Smirnov distance (0: equal, 1: disjoint)",
        [c.name for c in columns],
        np.array([c.ks_distance for c in columns]),
    )
