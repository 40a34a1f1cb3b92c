"""The paper's figures from result rows: estimates by dimension, training curves, ablation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from secant.report.drawing import COLOURS, INK, ORANGE, clean
from secant_bench.rows import Row
from secant_bench.training_curves import CurveRow

__all__ = ["draw_ablation", "draw_estimates", "draw_training"]

_DPI = 200  # of a printed page


def draw_estimates(rows: Sequence[Row], path: Path, *, evaluations: int = 2) -> bool:
    """Mutual information at a number of evaluations by dimension; a star marks the truth.

    A bar per method shows the mean over seeds, with a whisker from minimum to maximum. Returns
    False, without a figure, if fewer than two methods or no dimension can be shown.
    """
    known = [(d, row) for row in rows if row.error is not None and (d := _dimension(row.task))]
    shown = [(d, row) for d, row in known if row.evaluations in (1, evaluations)]
    best = {(row.task, row.method): row.evaluations for _, row in sorted(shown, key=_evaluations)}
    shown = [(d, r) for d, r in shown if r.evaluations == best[r.task, r.method]]
    methods = list(dict.fromkeys(row.method for _, row in shown))
    dimensions = sorted({d for d, _ in shown})
    if len(methods) < 2:
        return False
    drawn = Figure(figsize=(max(4.5, 0.9 + 0.28 * len(shown) / 3), 3.3), layout="constrained")
    axes = drawn.subplots()
    width = 0.8 / len(methods)
    for place, d in enumerate(dimensions):
        at_d = [row for at, row in shown if at == d]
        present = [method for method in methods if any(r.method == method for r in at_d)]
        for number, method in enumerate(present):
            x = place + (number - 0.5 * (len(present) - 1)) * width
            values = [(r.truth or 0.0) + (r.error or 0.0) for r in at_d if r.method == method]
            turn, colour = divmod(methods.index(method), len(COLOURS))
            style = {"hatch": "//", "edgecolor": "white"} if turn else {}
            first = method not in axes.get_legend_handles_labels()[1]
            label = method if first else None
            _bars(axes, [(x, np.array(values))], 0.92 * width, COLOURS[colour], label, **style)
        truth, reach = at_d[0].truth or 0.0, 0.5 * len(present) * width + 0.03
        axes.hlines(truth, place - reach, place + reach, color=INK, lw=1.0, linestyle="--")
        star: dict[str, Any] = {
            "color": INK,
            "markersize": 12,
            "markeredgecolor": "white",
            "zorder": 5,
        }
        label = None if place else "truth"
        axes.plot([place + reach], [truth], "*", label=label, **star)
    axes.set_xticks(range(len(dimensions)), [f"d = {d}" for d in dimensions])
    axes.set_ylabel("mutual information, nats")
    clean(axes)
    axes.grid(visible=False, axis="x")
    drawn.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    _save(drawn, path)
    return True


def _dimension(task: str) -> int | None:
    """The d of `block-gaussians-40d`; None for other tasks, including those with fixed rows."""
    found = re.fullmatch(r"block-gaussians-(\d+)d", task)
    return int(found[1]) if found else None


def _evaluations(pair: tuple[int | None, Row]) -> int:
    return pair[1].evaluations


def _bars(
    axes: Axes,
    groups: Sequence[tuple[float, np.ndarray]],
    width: float,
    colour: str,
    label: str | None,
    **style: Any,  # noqa: ANN401, of matplotlib
) -> None:
    """A bar for each group of values, with a whisker over their range."""
    x = [place for place, _ in groups]
    middle = np.array([values.mean() for _, values in groups])
    ends = np.array([[v.min() for _, v in groups], [v.max() for _, v in groups]])
    axes.bar(x, middle, width, color=colour, label=label, **style)
    axes.errorbar(x, middle, np.abs(ends - middle), fmt="none", ecolor=INK, lw=1.0, capsize=2)


def draw_training(rows: Sequence[CurveRow], path: Path) -> bool:
    """Estimates against steps, one line per curriculum: median and range over seeds."""
    known = [row for row in rows if row.estimate is not None]
    methods = list(dict.fromkeys(row.method for row in known))
    if not methods:
        return False
    drawn = Figure(figsize=(5.2, 3.3), layout="constrained")
    axes = drawn.subplots()
    for number, method in enumerate(methods):
        own = [row for row in known if row.method == method]
        steps = sorted({row.step for row in own})
        values = [
            [r.estimate for r in own if r.step == s and r.estimate is not None] for s in steps
        ]
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(steps, [np.median(v) for v in values], color=colour, lw=1.6, label=method)
        low, high = [min(v) for v in values], [max(v) for v in values]
        axes.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
    truth = known[0].truth
    if truth is not None:
        axes.axhline(truth, color=INK, lw=1.0, linestyle="--", label="truth")
        axes.set_ylim(min(0.0, axes.get_ylim()[0]), max(1.25 * truth, axes.get_ylim()[1]))
    axes.set_xlabel("steps")
    axes.set_ylabel("mutual information, nats")
    clean(axes)
    axes.legend(frameon=False, fontsize=9, ncols=2, loc="lower right")
    _save(drawn, path)
    return True


def draw_ablation(
    rows: Sequence[Row], baselines: Mapping[str, Sequence[Row]], path: Path, *, evaluations: int
) -> bool:
    """Squared errors by sampler and supervision, with the best pair separate, beside baselines.

    Args:
        rows: of the ablation; a method is `sampler, supervision`.
        baselines: for a task, rows of other methods on it.
        path: of the picture.
        evaluations: number of evaluations; a method with fewer uses its own maximum.
    """
    known = [r for r in rows if r.error is not None and r.evaluations == evaluations]
    shown = [r for r in known if ", " in r.method]
    tasks = list(dict.fromkeys(r.task for r in shown))
    if not tasks:
        return False
    size = (0.6 + 5.2 * len(tasks), 3.4)
    drawn = Figure(figsize=size, layout="constrained")
    for axes, task in zip(drawn.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        _ablation_panel(axes, [r for r in shown if r.task == task], baselines.get(task, ()))
        axes.set_title(task, color=INK, fontsize=11)
    drawn.axes[0].set_ylabel("squared error, nats²")
    pairs = [
        (text, handle)
        for axes in drawn.axes
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
    ]
    named = dict(sorted(pairs, key=lambda pair: pair[0] == "best pair"))
    drawn.legend(
        named.values(),
        named.keys(),
        loc="outside lower center",
        ncols=6,
        frameon=False,
        fontsize=9,
    )
    _save(drawn, path)
    return True


def _ablation_panel(axes: Axes, rows: Sequence[Row], baselines: Sequence[Row]) -> None:
    errors = _by(rows, lambda r: r.method)
    pairs = {tuple(method.split(", ", 1)): values for method, values in errors.items()}
    samplers = list(dict.fromkeys(s for s, *_ in pairs))
    ways = list(dict.fromkeys(w for _, w in pairs))
    best = min(pairs, key=lambda pair: pairs[pair].mean())
    width = 0.8 / len(ways)
    for number, way in enumerate(ways):
        groups = [
            (place + (number - 0.5 * (len(ways) - 1)) * width, pairs[sampler, way])
            for place, sampler in enumerate(samplers)
            if (sampler, way) in pairs
        ]
        colour = COLOURS[number % len(COLOURS)]
        _bars(axes, groups, 0.92 * width, colour, way)
    at = samplers.index(best[0]) + (ways.index(best[1]) - 0.5 * (len(ways) - 1)) * width
    others = _by(baselines, lambda r: r.method)
    places = len(samplers) + 0.4 * np.arange(len(others))
    grey = [(float(x), values) for x, values in zip(places, others.values(), strict=True)]
    if grey:
        _bars(axes, grey, 0.32, "#b5bec6", "other methods")
    axes.set_yscale("log")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.plot([at], [pairs[best].max() * 1.5], "v", color=ORANGE, label="best pair", zorder=5)
    axes.set_xticks([*range(len(samplers)), *places], [*samplers, *others], fontsize=9)
    for mark in axes.get_xticklabels()[len(samplers) :]:
        mark.set(rotation=35, ha="right", fontsize=8)
    clean(axes)
    axes.grid(visible=False, axis="x")


def _by(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, np.ndarray]:
    """Squared errors of all seeds, by a name."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.error is not None:
            found.setdefault(key(row), []).append(row.error**2)
    return {name: np.array(values) for name, values in found.items()}


def _save(drawn: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=_DPI)
