"""The charts of a watch: evidence, share in common and columns, over the windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from secant.report.charts import Drawing
from secant.report.drawing import BLUE, INK, ORANGE, label
from secant.report.numbers import percent, signed
from secant.tasks.monitoring_result import Monitoring

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        "100 %: the same. This is the size of a difference, whether it is proved or not. "
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
    """What columns carry in every window, as shades.

    Args:
        found: with windows that were compared.
        names: of the columns, the most important first.
    """
    shown = tuple(names[:_MOST_COLUMNS])
    values = {(c.name, i): c.contribution for i, w in found.compared for c in w.columns}
    most = max([_LEAST_TOP, *(v for (name, _), v in values.items() if name in shown)])
    return Drawing(
        "Columns over the windows",
        "What each column carries of the difference, window by window, as shades.",
        partial(_draw_columns, found=found, names=shown, values=values, most=most),
        f"Each column's part of the difference from the reference; the darkest is {signed(most)} "
        "nats. Pale specks come and go by chance; a line that stays is a change.",
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
