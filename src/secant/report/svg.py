"""SVG charts of a page: drawings by matplotlib, in the colours of the page's theme."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from secant.diagnostics import CalibrationCurve
from secant.report.drawing import (
    BLUE,
    GRID,
    INK,
    ORANGE,
    PAPER,
    Values,
    clean,
    draw_calibration,
    draw_histograms,
    draw_log_ratios,
    draw_secants,
    draw_training,
    histogram_edges,
    label,
    row_shares,
    trained_fits,
)
from secant.report.numbers import number, percent, signed
from secant.tasks.comparison_result import ColumnHistogram
from secant.tasks.cross_fitting import FitRecord
from secant.tasks.monitoring_result import Monitoring
from secant.tasks.path_picture import PathPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SIZE = (480.0, 324.0)  # points, the units of the SVG
_FONT_SIZE = 12.5  # as in style.css
# CSS variables of the page, light or dark, for the colours of `drawing`.
_THEME = {
    BLUE: "var(--zero)",
    ORANGE: "var(--one)",
    INK: "var(--soft)",
    GRID: "var(--faint)",
    PAPER: "var(--paper)",
}


@dataclass(frozen=True)
class Drawing:
    """A chart with its texts.

    Attributes:
        title: a headline.
        description: alternative text.
        draw: draws it on matplotlib axes.
        caption: how to read it.
    """

    title: str
    description: str
    draw: Callable[[Axes], None]
    caption: str = ""
    kind = "chart"

    width, height = _SIZE

    def svg(self, place: str) -> Markup:
        """The elements inside the `svg` tag; no other chart of the page has the id `place`."""
        return Markup(_themed(self.draw, place))  # matplotlib escapes all texts


def _themed(draw: Callable[[Axes], None], place: str) -> str:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = io.StringIO()
    with (
        rc_context({"svg.fonttype": "none", "svg.hashsalt": place, "font.size": _FONT_SIZE}),
        warnings.catch_warnings(),
    ):
        # The browser has fonts for characters that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure = Figure(figsize=(_SIZE[0] / 72, _SIZE[1] / 72), layout="constrained")
        axes = figure.subplots()
        clean(axes)
        draw(axes)
        figure.savefig(file, format="svg", transparent=True)
    text = file.getvalue()
    text = text[text.index('<g id="figure_1">') : text.rindex("</svg>")]
    # A page has unique ids and refers to nothing by url(…): lines are clipped by the drawing.
    text = re.sub(
        r'<!--.*?-->|<defs>\s*<clipPath.*?</defs>| clip-path="[^"]*"', "", text, flags=re.S
    )
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r'(\bid="|href="#)', rf"\g<1>{place}-", text)
    text = re.sub(r"\bfont: [^;\"]*;? ?", "", text)  # the page has its own
    for colour, variable in _THEME.items():
        text = text.replace(colour, variable)
    return text


def histogram_chart(zero: Values, one: Values, names: tuple[str, str]) -> Drawing:
    """The log ratio over the rows of both samples, each as shares of its own rows."""
    medians = [signed(float(np.median(v))) for v in (zero, one)]
    return Drawing(
        "Log ratio of every row",
        f"Two histograms. Rows of {names[0]} have a median log ratio of {medians[0]} nats, "
        f"rows of {names[1]} of {medians[1]}.",
        partial(draw_log_ratios, zero=zero, one=one, names=names),
        f"Medians {medians[0]} and {medians[1]} nats. Right of 0 a row looks more like the second "
        "sample. Outliers are collected in the end bins.",
    )


def column_chart(column: ColumnHistogram, names: tuple[str, str], caption: str) -> Drawing:
    """One column in both samples, each as shares of its own rows."""
    shares = (column.share_0, column.share_1)
    return Drawing(
        column.name,
        f"Two histograms of {column.name}: {caption}.",
        partial(
            draw_histograms, quantity=column.name, edges=column.edges, shares=shares, names=names
        ),
        f"{caption[0].upper()}{caption[1:]}.",
    )


def distribution_chart(values: Values, *, title: str, quantity: str, caption: str) -> Drawing:
    """One histogram, as shares of its rows; outliers are collected in the end bins."""
    edges = histogram_edges(values)
    low, middle, high = (number(float(v)) for v in np.quantile(values, [0.05, 0.5, 0.95]))
    return Drawing(
        title,
        f"A histogram of {values.size} values: median {middle}, nine of ten between {low} and "
        f"{high}.",
        partial(
            draw_histograms, quantity=quantity, edges=edges, shares=[row_shares(values, edges)]
        ),
        f"Mean {number(float(values.mean()))}, median {middle}. {caption} Outliers are collected "
        "in the end bins.",
    )


def secant_chart(picture: PathPicture, names: tuple[str, str]) -> Drawing:
    """log p_t along the path for typical rows, each with its secant over the whole of it."""
    ends = "; ".join(
        f"{names[line.sample]}, quantile {percent(line.quantile)}: {signed(line.log_ratio)}"
        for line in picture.lines
    )
    return Drawing(
        "Typical rows along the path",
        f"How the log density of six rows moves from p₀ to p₁. Log ratios at the end: {ends} nats.",
        partial(draw_secants, picture=picture, names=names),
        "Rows at the 10, 50 and 90 % quantiles of each sample's log ratio. A dotted secant joins "
        "the ends of its curve: its slope is the row's log ratio, learned in one pass.",
    )


def calibration_chart(curve: CalibrationCurve) -> Drawing:
    """Observed against predicted log odds with two standard errors, and the line through them."""
    pairs = zip(curve.predicted.tolist(), curve.observed.tolist(), strict=True)
    return Drawing(
        "Calibration",
        "Predicted and observed log odds, bin by bin: "
        + "; ".join(f"{number(p)} and {number(o)}" for p, o in pairs),
        partial(draw_calibration, curve=curve),
        "Each point is a bin of rows of the two samples, scored out of fold. On the line, the "
        "ratio is calibrated. Triangles are bounds: bins with rows of one sample only.",
    )


def training_chart(fits: Sequence[FitRecord]) -> Drawing | None:
    """The held-out loss by steps, one line per fit; None if no fit was trained by steps."""
    trained = trained_fits(fits)
    if not trained:
        return None
    least = (number(float(np.nanmin([r.held_out for r in fit.history]))) for fit in trained)
    return Drawing(
        "Training",
        f"The held-out loss of {len(trained)} fits falls to {', '.join(least)}.",
        partial(draw_training, fits=trained),
        "One line per fit. The dot is the state that was kept: the lowest held-out loss.",
    )


_MOST_LABELS = 3
_MOST_COLUMNS = 10
_LONGEST = 18  # characters of a column's name at the axis
_LEAST_TOP = 0.2  # nats: smaller contributions are pale however small the others are


def evidence_chart(found: Monitoring) -> Drawing:
    """The evidence over the windows, in powers of ten, with the alarm's line."""
    n_windows = sum(not window.is_open for window in found.windows)
    factor = f"{1.0 / found.level:.3g}"
    first = "" if found.proof is None else f" It is crossed at {found.windows[found.proof].label}."
    return Drawing(
        "Evidence of a change",
        f"A line over {n_windows} windows that starts at 1 and would have to reach {factor} for "
        f"an alarm.{first}",
        partial(_draw_evidence, found=found, factor=factor),
        f"Of streams like the reference, at most {percent(found.level)} ever cross the line, "
        "however often one looks.",
    )


def _draw_evidence(axes: Axes, found: Monitoring, factor: str) -> None:
    course = [w.log_evidence / math.log(10.0) for w in found.windows if not w.is_open]
    needed = -math.log10(found.level)
    axes.plot(course, color=BLUE, linewidth=1.8, label="evidence")
    axes.axhline(needed, color=ORANGE, linewidth=1.4, linestyle="--", label=f"{factor}: proved")
    if found.proof is not None:
        axes.plot(found.proof, course[found.proof], marker="o", markersize=7, color=ORANGE)
    axes.set_ylim(min([*course, 0.0]) - 0.1, max([*course, 1.2 * needed]) + 0.1)
    axes.set_ylabel("evidence (powers of ten)")
    axes.legend(frameon=False)
    _name_windows(axes, found)


def overlap_chart(found: Monitoring) -> Drawing:
    """The share in common of every window, with its interval and the band of the reference."""
    return Drawing(
        "Size of the difference",
        "The share that each window has in common with the reference: "
        + "; ".join(f"{found.windows[i].label} {percent(c.overlap)}" for i, c in found.compared),
        partial(_draw_overlap, found=found),
        "100 %: the same. This is the size of a difference, significant or not. "
        + found.band.words,
    )


def _draw_overlap(axes: Axes, found: Monitoring) -> None:
    if found.band.n_blocks:
        low = 100.0 * found.band.overlap
        axes.axhspan(low, 100.0, color=INK, alpha=0.16, lw=0, label="reference's own blocks")
    named: set[str] = set()
    for i, window in found.compared:
        is_late = found.since is not None and i >= found.since
        name = "since the change" if is_late else "window, with interval"
        colour = ORANGE if is_late else BLUE
        low, high = (100.0 * end for end in window.overlap_interval)
        axes.vlines(i, low, high, color=colour, linewidth=1.5)
        shown = None if name in named else name
        axes.plot(i, 100.0 * window.overlap, "o", color=colour, markersize=5, label=shown)
        named.add(name)
    axes.set_ylim(top=101.0)
    axes.set_ylabel("share in common (%)")
    axes.legend(frameon=False)
    _name_windows(axes, found)


def column_course_chart(found: Monitoring, names: Sequence[str]) -> Drawing:
    """Contributions of columns, the most important first, in every window, as shades."""
    shown = tuple(names[:_MOST_COLUMNS])
    values = {(c.name, i): c.contribution for i, w in found.compared for c in w.columns}
    most = max([_LEAST_TOP, *(v for (name, _), v in values.items() if name in shown)])
    return Drawing(
        "Columns over the windows",
        "The contribution of each column to the difference, by window, as shades.",
        partial(_draw_columns, found=found, names=shown, values=values, most=most),
        f"Each column's part of the difference from the reference; the darkest is {signed(most)} "
        "nats. Single pale cells occur by chance; a persistent line is a change.",
    )


def _draw_columns(
    axes: Axes,
    found: Monitoring,
    names: Sequence[str],
    values: dict[tuple[str, int], float],
    most: float,
) -> None:
    for (name, i), value in values.items():
        if name in names and value > 0.0:
            place = names.index(name)
            axes.barh(place, 0.94, 0.94, i - 0.47, color=ORANGE, alpha=min(value / most, 1.0))
    axes.set_yticks(range(len(names)), [label(name, _LONGEST) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False)
    _name_windows(axes, found)


def _name_windows(axes: Axes, found: Monitoring) -> None:
    """Windows by their number below, with a few of their labels."""
    n = len(found.windows)
    ticks = range(0, n, max(math.ceil(n / _MOST_LABELS), 1))
    axes.set_xticks(ticks, [label(found.windows[i].label, _LONGEST) for i in ticks])
    axes.set_xlim(-0.5, max(n, 2) - 0.5)
    axes.set_xlabel(f"windows of {found.every}")
