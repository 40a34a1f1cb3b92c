"""Figures of fits and results, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from secant.report.diagnostic_figures import plot_calibration, plot_drift
from secant.report.style import BLUE, INK, ORANGE, clean

__all__ = ["Panel", "histogram_figure", "plot_calibration", "plot_drift", "scatter_figure"]


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
    figure.savefig(path, dpi=150)


def histogram_figure(
    log_ratio_0: Float[np.ndarray, " n"],
    log_ratio_1: Float[np.ndarray, " m"],
    path: Path,
    *,
    title: str,
    labels: tuple[str, str],
) -> None:
    """The log ratio over rows of both samples; the outermost 1 % are collected in the end bins.

    Otherwise a few extreme rows would compress the rest into a single bar.
    """
    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    axes = figure.subplots()
    clean(axes)
    low, high = np.quantile(np.concatenate([log_ratio_0, log_ratio_1]), [0.01, 0.99])
    edges = np.linspace(low, high, 61)
    for values, label, colour in (
        (log_ratio_0, labels[0], BLUE),
        (log_ratio_1, labels[1], ORANGE),
    ):
        axes.hist(
            np.clip(values, low, high), bins=edges.tolist(), alpha=0.65, color=colour, label=label
        )
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_xlabel("log ratio, out of fold (nats; the outermost 1 % gathered at the edges)")
    axes.set_ylabel("rows")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
