"""Figures of speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from secant.report.drawing import COLOURS, INK, clean
from secant_bench.panels import few_marks
from secant_bench.performance.growth import GrowthRow
from secant_bench.performance.ladders import RungRow
from secant_bench.rows import groups

__all__ = ["draw_growth", "draw_ladders"]


def draw_ladders(rows: Sequence[RungRow], path: Path) -> None:
    """Errors against seconds, one panel per task; a dotted line is the goal."""
    tasks = groups(rows, lambda row: row.task)
    methods = list(dict.fromkeys(row.method for row in rows))
    drawn = Figure(figsize=(5.2 * len(tasks), 4.6), layout="constrained")
    panels = drawn.subplots(1, len(tasks), squeeze=False)[0]
    for axes, (task, runs) in zip(panels, tasks.items(), strict=True):
        for (method, seed), rungs in _climbs(runs).items():
            colour = COLOURS[methods.index(method) % len(COLOURS)]
            style = "-" if methods.index(method) < len(COLOURS) else "--"
            x, y = zip(*rungs, strict=True)
            axes.plot(
                x,
                y,
                marker="o",
                markersize=3,
                color=colour,
                ls=style,
                lw=1.2,
                label=method if seed == 0 else None,
            )
        axes.axhline(runs[0].goal, color=INK, lw=0.8, ls=":")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(few_marks)
        if min(row.goal for row in runs) > 0.0:
            axes.set_yscale("log")
        axes.set_title(task, color=INK, fontsize=11)
        axes.set_xlabel("seconds of the fit")
        axes.set_ylabel("error, nats" if runs[0].goal > 0.0 else "mean −log density, nats")
        clean(axes)
        axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=110)


def _climbs(rows: Sequence[RungRow]) -> dict[tuple[str, int], list[tuple[float, float]]]:
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in rows:
        if row.seconds is not None and row.miss is not None:
            found.setdefault((row.method, row.seed), []).append((row.seconds, row.miss))
    return {key: sorted(rungs) for key, rungs in found.items()}


def draw_growth(rows: Sequence[GrowthRow], path: Path) -> None:
    """Seconds above and memory below, one column per varied quantity."""
    varied = groups(rows, lambda row: row.by)
    methods = list(dict.fromkeys(row.method for row in rows))
    drawn = Figure(figsize=(3.6 * len(varied), 5.4), layout="constrained")
    panels = drawn.subplots(2, len(varied), squeeze=False, sharex="col", sharey="row")
    for column, (name_of_size, sizes) in enumerate(varied.items()):
        for method, runs in groups(sizes, lambda row: row.method).items():
            colour = COLOURS[methods.index(method)]
            by_value = groups(runs, lambda row: f"{row.value:012d}")
            values = [group[0].value for _, group in sorted(by_value.items())]
            for axes, name in zip(panels[:, column], ("seconds", "mib"), strict=True):
                means = [
                    np.mean([getattr(row, name) or np.nan for row in group])
                    for _, group in sorted(by_value.items())
                ]
                axes.plot(values, means, marker="o", markersize=4, color=colour, label=method)
                axes.set_xscale("log")
                axes.set_yscale("log")
                clean(axes)
        panels[1][column].set_xlabel(name_of_size)
    panels[0][0].set_ylabel("seconds")
    panels[1][0].set_ylabel("MiB beyond an idle JAX")
    handles, labels = panels[0][0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=110)
