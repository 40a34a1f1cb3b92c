"""Results drawn on matplotlib axes, for pages and for figure files alike.

matplotlib is not imported here: pages and the command line load it only when they draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from secant._host.escaping import one_line
from secant.diagnostics import CalibrationCurve
from secant.tasks.cross_fitting import FitRecord
from secant.tasks.path_picture import PathPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Values = Float[np.ndarray, " n"]

INK, BLUE, ORANGE, GRID, PAPER = "#22303c", "#1f6fb2", "#d9731a", "#e3e7eb", "#ffffff"
# For many lines in one panel; distinguishable with red-green colour blindness.
COLOURS = (BLUE, ORANGE, "#117a65", "#8e44ad", "#7f8c8d", "#c0392b", "#b7950b")

_BINS = 44
_OUTERMOST = 0.005  # share of the rows at either end that is collected in the end bins
_FENCE = 4.0  # interquartile ranges beyond the middle half; a normal sample has no row there


def clean(axes: Axes) -> None:
    """Two spines, a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(INK)
    axes.tick_params(colors=INK)
    axes.grid(visible=True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def label(name: str, longest: int = 28) -> str:
    """A name that matplotlib shows literally: one line, no formula, never hidden in a legend."""
    text = one_line(name)
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    plain = cut.replace("$", r"\$")  # a dollar sign would start a formula
    return f" {plain}" if plain.startswith("_") else plain


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


def row_shares(values: Values, edges: Values) -> Values:
    """The share of the rows in each bin; outliers are counted in the end bins."""
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    return np.asarray(counts / values.size)


def draw_histograms(
    axes: Axes, quantity: str, edges: Values, shares: Sequence[Values], names: Sequence[str] = ()
) -> None:
    """Histograms of one quantity in per cent of the rows of each sample, with a legend of names."""
    for share, colour, name in zip(shares, COLOURS, [*names, *("",) * len(shares)], strict=False):
        axes.stairs(100.0 * share, edges, fill=True, alpha=0.28, color=colour)
        axes.stairs(100.0 * share, edges, color=colour, linewidth=1.6, label=label(name) or None)
    axes.set_xlabel(label(quantity, 60))
    axes.set_ylabel("share of rows (%)")
    axes.set_ylim(bottom=0.0)
    if names:
        axes.legend(frameon=False)


def draw_log_ratios(axes: Axes, zero: Values, one: Values, names: tuple[str, str]) -> None:
    """The log ratio over the rows of both samples."""
    edges = histogram_edges(np.concatenate([zero, one]))
    shares = [row_shares(values, edges) for values in (zero, one)]
    draw_histograms(axes, "log ratio, out of fold (nats)", edges, shares, names)
    if edges[0] < 0.0 < edges[-1]:
        axes.axvline(0.0, color=INK, linewidth=0.8, linestyle="--")


def draw_secants(axes: Axes, picture: PathPicture, names: tuple[str, str]) -> None:
    """log p_t − log p_0 of typical rows along the path, each with its secant."""
    axes.axhline(0.0, color=INK, linewidth=0.8)
    named: set[int] = set()
    for line in picture.lines:
        colour = COLOURS[line.sample]
        name = None if line.sample in named else label(names[line.sample])
        named.add(line.sample)
        axes.plot([0.0, 1.0], [0.0, line.log_ratio], color=colour, linewidth=0.9, linestyle=":")
        axes.plot(picture.times, line.rise, color=colour, linewidth=1.6, label=name)
        axes.plot(1.0, line.log_ratio, marker="o", markersize=4, color=colour)
    axes.set_xlabel("time t on the path")
    axes.set_ylabel("log pₜ(x) − log p₀(x) (nats)")
    axes.legend(frameon=False)


def draw_calibration(axes: Axes, curve: CalibrationCurve) -> None:
    """Observed against predicted log odds with two standard errors, the diagonal and the line (Q2).

    Bins with rows of one sample only are triangles: their log odds are bounds.
    """
    ends = _calibration_range(curve)
    axes.plot(ends, ends, color=INK, linewidth=1.0, label="calibrated")
    line = curve.recalibration
    if line.is_known:
        fitted = line.intercept + line.slope * ends
        name = f"recalibration, slope {line.slope:.2f} ± {line.slope_error:.2f}"
        axes.plot(ends, fitted, color=ORANGE, linewidth=1.4, linestyle="--", label=name)
    _draw_bins(axes, curve)
    axes.set_xlabel("predicted log odds (nats)")
    axes.set_ylabel("observed log odds (nats)")
    axes.legend(frameon=False, loc="upper left")


def _calibration_range(curve: CalibrationCurve) -> Float[np.ndarray, " 2"]:
    """From the lowest to the highest prediction, with a margin."""
    if not curve.n_bins:
        return np.array([-1.0, 1.0])
    low, high = float(curve.predicted.min()), float(curve.predicted.max())
    room = max(0.08 * (high - low), 0.2)
    return np.array([low - room, high + room])


def _draw_bins(axes: Axes, curve: CalibrationCurve) -> None:
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
            label="rows, ± 2 standard errors",
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
                facecolor=PAPER,
                edgecolor=BLUE,
                label=meaning,
                zorder=3,
            )


def trained_fits(fits: Sequence[FitRecord]) -> list[FitRecord]:
    """The fits that were trained by steps."""
    return [fit for fit in fits if len(fit.history) > 1]


def draw_training(axes: Axes, fits: Sequence[FitRecord]) -> None:
    """Held-out and training loss by steps, one line per fit; a dot marks the state kept."""
    tables = [
        np.array([(r.step, r.held_out, r.loss) for r in f.history]) for f in trained_fits(fits)
    ]
    held = np.concatenate([table[:, 1] for table in tables])
    finite = held[np.isfinite(held)]
    reach = float(np.ptp(finite)) if finite.size else np.inf
    for k, table in enumerate(tables):
        steps, held_out, losses = table.T
        if finite.size:  # training losses far from the held-out ones would flatten those
            losses = np.where(np.abs(losses - finite.mean()) <= 2.0 * reach, losses, np.nan)
        names = ("training loss", "held-out loss") if k == 0 else (None, None)
        if np.isfinite(losses).any():
            axes.plot(steps, losses, color=ORANGE, linewidth=0.9, linestyle=":", label=names[0])
        axes.plot(steps, held_out, color=BLUE, linewidth=1.4, label=names[1])
        if np.isfinite(held_out).any():
            best = int(np.nanargmin(held_out))
            axes.plot(steps[best], held_out[best], marker="o", markersize=4.5, color=BLUE)
    axes.set_xlabel("training steps")
    axes.set_ylabel("loss")
    axes.legend(frameon=False)
