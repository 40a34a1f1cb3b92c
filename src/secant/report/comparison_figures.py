"""The figures of a comparison as files, for papers and slides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from secant.report.diagnostic_figures import plot_calibration, plot_drift
from secant.report.figures import histogram_figure
from secant.report.style import BLUE, INK, ORANGE, clean, label, saved
from secant.tasks.comparison_result import Comparison
from secant.tasks.cross_fitting import FitRecord
from secant.tasks.path_picture import PathPicture

__all__ = ["plot_secants", "plot_training", "write_figures"]


def write_figures(
    folder: Path | str, comparison: Comparison, *, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write every figure of a comparison and say where.

    Args:
        folder: made if absent.
        comparison: by `secant.compare`.
        formats: endings that matplotlib knows.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for ending in formats:
        paths = {name: place / f"{name}.{ending}" for name in _shown(comparison)}
        histogram_figure(
            comparison.log_ratio_0,
            comparison.log_ratio_1,
            paths["log-ratio"],
            title="Log ratio of every row",
            labels=(label(comparison.sample_names[0]), label(comparison.sample_names[1])),
        )
        plot_drift(comparison, paths["columns"])
        plot_calibration(comparison.calibration, paths["calibration"])
        if "training" in paths:
            plot_training(comparison.fits, paths["training"])
        if comparison.path is not None:
            plot_secants(comparison.path, paths["secants"], labels=comparison.sample_names)
        written += paths.values()
    return written


def _shown(comparison: Comparison) -> list[str]:
    """The figures there are: not every fit is trained by steps or has a path."""
    trained = ["training"] if any(len(fit.history) > 1 for fit in comparison.fits) else []
    path = ["secants"] if comparison.path is not None else []
    return ["log-ratio", "columns", "calibration", *trained, *path]


def plot_training(fits: Sequence[FitRecord], path: Path | str | None = None) -> Figure | None:
    """The held-out loss by steps, one line a fit; None where nothing was trained by steps."""
    trained = [fit for fit in fits if len(fit.history) > 1]
    if not trained:
        return None
    figure = Figure(figsize=(5.6, 3.8), layout="constrained")
    axes = figure.subplots()
    clean(axes)
    for fit in trained:
        steps, losses = zip(*((r.step, r.held_out) for r in fit.history), strict=True)
        axes.plot(steps, losses, color=BLUE, linewidth=1.4)
    axes.set_xlabel("training steps")
    axes.set_ylabel("held-out loss")
    axes.set_title("Training, one line a fit", color=INK, fontsize=11)
    return saved(figure, path)


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
        labels: what the samples are called.
    """
    figure = Figure(figsize=(5.6, 3.8), layout="constrained")
    axes = figure.subplots()
    clean(axes)
    named: set[int] = set()
    for line in picture.lines:
        colour = ORANGE if line.sample else BLUE
        name = None if line.sample in named else label(labels[line.sample])
        named.add(line.sample)
        axes.plot([0.0, 1.0], [0.0, line.log_ratio], color=colour, linewidth=0.8, linestyle=":")
        axes.plot(picture.times, line.rise, color=colour, linewidth=1.5, label=name)
    axes.set_xlabel("time t on the path")
    axes.set_ylabel("log p_t(x) − log p_0(x) (nats)")
    axes.set_title("Typical rows along the path, and their secants", color=INK, fontsize=11)
    axes.legend(frameon=False)
    return saved(figure, path)
