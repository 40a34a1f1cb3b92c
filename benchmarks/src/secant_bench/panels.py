"""Error against evaluations and seconds, with the spread over seeds: one figure per suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from secant.report.drawing import COLOURS, INK, clean

__all__ = ["FIGURES", "Point", "draw_panels", "few_marks", "panels"]

FIGURES = Path("docs/figures")
_MOST_COLUMNS = 5
_MANY_MARKS = 30.0  # a range of seconds on which labels between powers of ten would overlap
_MARKS = ("o", "s", "^", "D")


class Point(NamedTuple):
    """One run of a method on a task, at one number of evaluations.

    Attributes:
        task: a column of panels.
        method: a line.
        evaluations: network evaluations per row; None or 0 without a network.
        seconds: of the fit.
        error: the error, or another figure of merit; None if the run has none.
        doubted: whether its normaliser is unreliable.
    """

    task: str
    method: str
    evaluations: int | None
    seconds: float | None
    error: float | None
    doubted: bool = False


def panels(points: Sequence[Point], name: str, what: str, *, log: bool = True) -> str:
    """Draw the figure of a suite, and return the line of Markdown that shows it.

    Args:
        points: of all its runs.
        name: of the suite and the file.
        what: label of the vertical axis.
        log: whether the vertical axis is logarithmic.
    """
    known = [p for p in points if p.error is not None and np.isfinite(p.error)]
    methods = {p.task: {q.method for q in known if q.task == p.task} for p in known}
    compared = [
        p for p in known if len(methods[p.task]) > 1
    ]  # a single method is in the table only
    if not compared:
        return ""
    draw_panels(compared, FIGURES / f"{name}.png", what, log=log)
    return f"![{name}: {what}, against evaluations and seconds](figures/{name}.png)"


def draw_panels(points: Sequence[Point], path: Path, what: str, *, log: bool) -> None:
    """One column per task, evaluations above and seconds below; further tasks start a new row."""
    tasks = list(dict.fromkeys(p.task for p in points))
    methods = list(dict.fromkeys(p.method for p in points))
    bands = -(-len(tasks) // _MOST_COLUMNS)
    across = -(-len(tasks) // bands)
    height = 5.0 * bands + 0.25 * -(-len(methods) // 4) + 0.3
    drawn = Figure(figsize=(max(3.2 * across, 8.0), height), layout="constrained")
    grid = drawn.subplots(2 * bands, across, squeeze=False)
    for axes in grid.ravel():
        axes.set_visible(False)
    counts = sorted({p.evaluations for p in points if p.evaluations})
    seconds = [p.seconds for p in points if p.seconds]
    for number, task in enumerate(tasks):
        band, column = divmod(number, across)
        above, below = grid[2 * band : 2 * band + 2, column]
        own = [p for p in points if p.task == task]
        _panel(above, own, methods, lambda p: p.evaluations or None, log=log)
        _panel(below, own, methods, lambda p: p.seconds, log=log)
        above.set_title(task, color=INK, fontsize=9)
        above.set_xlabel("evaluations")
        above.set_xticks(counts, [str(n) for n in counts])
        above.set_xlim(0.8, 1.25 * max([*counts, 2]))
        above.minorticks_off()
        below.set_xlabel("seconds to fit")
        below.set_xlim(0.7 * min(seconds), 1.4 * max(seconds))
        below.xaxis.set_major_formatter("{x:g}")
        wide = max(seconds) > _MANY_MARKS * min(seconds)
        below.xaxis.set_minor_formatter(NullFormatter() if wide else few_marks)
        if column == 0:
            above.set_ylabel(what)
            below.set_ylabel(what)
    _legend(drawn, grid.ravel().tolist())
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=160)


def few_marks(x: float, place: int | None = None) -> str:
    """Labels between powers of ten: 2, 5, 20, 50 and so on."""
    del place
    return f"{x:g}" if f"{x:e}"[0] in "25" else ""


def _legend(drawn: Figure, every: Sequence[Axes]) -> None:
    """One legend for the lines of all panels."""
    found = {}
    for axes in every:
        found.update(
            {label: line for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        )
    drawn.legend(
        found.values(), found.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=9
    )


def _panel(
    axes: Axes,
    points: Sequence[Point],
    methods: Sequence[str],
    place: Callable[[Point], float | None],
    *,
    log: bool,
) -> None:
    axes.set_visible(True)
    for number, method in enumerate(methods):
        own = [p for p in points if p.method == method and place(p) is not None]
        if own:
            _line(axes, own, place, number)
    axes.set_xscale("log")
    if log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        middle = np.sqrt(low * high)  # at least a decade, so that its labels are readable
        axes.set_ylim(min(low, middle / 3.2), max(high, middle * 3.2))
        axes.yaxis.set_minor_formatter(NullFormatter())
    clean(axes)


def _line(
    axes: Axes, points: Sequence[Point], place: Callable[[Point], float | None], number: int
) -> None:
    """The mean over seeds at each number of evaluations, with a bar from minimum to maximum."""
    counts = sorted({p.evaluations or 0 for p in points})
    groups = [[p for p in points if (p.evaluations or 0) == count] for count in counts]
    x = [min(place(p) or np.inf for p in group) for group in groups]  # other work slows some down
    errors = [np.array([p.error for p in group], dtype=np.float64) for group in groups]
    middle = np.array([e.mean() for e in errors])
    ends = np.array([[e.min() for e in errors], [e.max() for e in errors]])
    turn, colour = divmod(number, len(COLOURS))
    axes.errorbar(
        x,
        middle,
        np.abs(ends - middle),
        color=COLOURS[colour],
        marker=_MARKS[turn % len(_MARKS)],
        markerfacecolor="white" if turn % 2 else COLOURS[colour],
        markersize=5,
        label=points[0].method,
        lw=1.2,
    )
    doubted = np.array([any(p.doubted for p in group) for group in groups])
    if doubted.any():
        at = np.array(x)[doubted], middle[doubted]
        axes.plot(*at, "x", color=INK, markersize=7, zorder=3, label="† unreliable")
