"""The section on the paper's experiments, generated from committed rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from secant.report.drawing import BLUE, INK, clean
from secant_bench.panels import FIGURES, Point, panels
from secant_bench.paper_figures import draw_ablation, draw_estimates, draw_training
from secant_bench.rows import Row, read_rows
from secant_bench.tables import figure, table
from secant_bench.training_curves import CurveRow
from secant_bench.trajectories import SHOWN_TIMES, TrajectoryRow

__all__ = ["paper_sections"]

_SQUARED = "squared error, nats²"
Groups = dict[tuple[str, str], dict[int, list[Row]]]


def paper_sections(results: Path) -> list[str]:
    """The sections for suites with rows; also draws their figures."""
    made = (
        _gaussian(results),
        _ablation(results),
        _training(results),
        _frame(results),
        _trajectories(results),
    )
    sections = [part for section in made for part in section if part]
    return ["## The paper's experiments", _PREAMBLE, *sections] if sections else []


_PREAMBLE = (
    "All methods of a table have the same network size and number of steps, with new rows at "
    "every step; the model is the state with the lowest held-out loss. *Squared error* is that "
    "of the mean log ratio over p_1, in nats², averaged over seeds. Tables use `--budget "
    "standard`, minutes per fit; a method without rows at that budget is omitted. The papers "
    "used up to thirty times as many steps, as does `--budget paper`."
)


def _gaussian(results: Path) -> list[str]:
    rows = read_rows(results / "paper-gaussian-mi.jsonl")
    if not rows:
        return []
    groups = _grouped(rows)
    return [
        "### Mutual information of Gaussians",
        "d/4 nats in d dimensions. Squared error by number of evaluations, with the minimum and "
        "maximum over seeds in brackets. Seconds are those of the fit, on one core of two that "
        "were both busy. The paper reports 0.72 for d = 160 at two evaluations and 0.01 at "
        "fifty. Only *SecantRatio* has an anchor, whose family contains these pairs. ISADRE's "
        "width, initial weights, steps, batch and weight of (V4) were tuned with known truth on "
        "these pairs, at d = 80 and 160, which favours it.",
        _by_evaluations(groups),
        panels(_points(rows), "paper-gaussian-mi", _SQUARED),
        _picture(
            "paper-mi-at-two",
            "Estimates at two evaluations by dimension (one if there is no more), truth starred",
            lambda path: draw_estimates(rows, path),
        ),
    ]


def _picture(name: str, what: str, draw: Callable[[Path], bool]) -> str:
    """The line of Markdown that shows a figure; empty if rows are missing."""
    path = FIGURES / f"{name}.png"
    return f"![{what}](figures/{path.name})" if draw(path) else ""


def _grouped(rows: Sequence[Row]) -> Groups:
    groups: Groups = {}
    for row in rows:
        by_count = groups.setdefault((row.task, row.method), {})
        by_count.setdefault(row.evaluations, []).append(row)
    return groups


def _squares(rows: Sequence[Row]) -> np.ndarray:
    return np.array([row.error**2 for row in rows if row.error is not None])


def _by_evaluations(groups: Groups) -> str:
    """Tasks and methods down, numbers of evaluations across."""
    counts = sorted({count for by_count in groups.values() for count in by_count if count})
    lines = []
    for (task, method), by_count in groups.items():
        cells = [_cell(by_count.get(count, [])) for count in counts]
        runs = next(iter(by_count.values()))
        seconds = [row.seconds for row in runs if row.seconds is not None]
        shown = figure(min(seconds)) if seconds else "–"
        lines.append([task, method, *cells, shown, str(len({row.seed for row in runs}))])
    return table(["task", "method", *map(str, counts), "seconds", "seeds"], lines)


def _cell(rows: Sequence[Row]) -> str:
    squares = _squares(rows)
    if not squares.size:
        return "failed" if any(row.traceback for row in rows) else "–"
    ends = f"{figure(float(squares.min()))} … {figure(float(squares.max()))}"
    return f"{figure(float(squares.mean()))} ({ends})"


def _points(rows: Sequence[Row]) -> list[Point]:
    squares = ((row, None if row.error is None else row.error**2) for row in rows)
    return [Point(r.task, r.method, r.evaluations, r.seconds, e) for r, e in squares]


def _ablation(results: Path) -> list[str]:
    rows = read_rows(results / "paper-ablation.jsonl")
    if not rows:
        return []
    return [
        "### Samplers of times and shares of tangents",
        "ISADRE on the mutual information of AdditiveNoise (ε = 0.1) and on the checkerboard from "
        "a normal, width 128. VI, uniform and LN (logit-normal) are the distributions of times; "
        "STS is the share of rows trained on the tangent (l = t), CIA anneals the interval. VI has "
        "a uniform floor (erratum 5).",
        _by_evaluations(_grouped(rows)),
        panels(_by_sampler(_points(rows)), "paper-ablation", _SQUARED),
        *(
            _picture(
                f"paper-ablation-{count}",
                f"Squared error at {count} evaluations by sampler and supervision, and of others",
                partial(_drawn_ablation, rows, results, count),
            )
            for count in sorted({row.evaluations for row in rows if row.evaluations > 1})
        ),
    ]


def _drawn_ablation(rows: Sequence[Row], results: Path, count: int, path: Path) -> bool:
    """The figure, with methods of other suites on the same task at that number of evaluations."""
    others = read_rows(results / "paper-gaussian-mi.jsonl")
    named = {row.task for row in rows}
    known: dict[str, list[Row]] = {task: [] for task in named}
    for row in others:
        if row.task in named and row.evaluations == count and "ISADRE" not in row.method:
            known[row.task].append(row)
    return draw_ablation(rows, known, path, evaluations=count)


def _training(results: Path) -> list[str]:
    rows = read_rows(results / "paper-training.jsonl", CurveRow)
    shown = _picture(
        "paper-training",
        "Estimates against steps, one line per curriculum, with the range over seeds",
        lambda path: draw_training(rows, path),
    )
    if not shown:
        return []
    return [
        "### Estimates during training",
        "ISADRE with the paper's target on the mutual information of AdditiveNoise (ε = 0.1), "
        "five evaluations, at several steps of one training run; median and range over seeds.",
        shown,
    ]


def _by_sampler(points: Sequence[Point]) -> list[Point]:
    """The point in a column for its time sampler, on a line for its share of tangents."""

    def moved(point: Point) -> Point:
        sampler, _, supervision = point.method.partition(", ")
        return point._replace(task=f"{point.task}\n{sampler}", method=supervision)

    return sorted(map(moved, points), key=lambda p: p.task)


def _frame(results: Path) -> list[str]:
    rows = read_rows(results / "paper-frame.jsonl")
    if not rows:
        return []
    groups = _grouped(rows)
    lines = []
    for (task, method), by_count in groups.items():
        for count in (1, 5, 50):
            runs = by_count.get(count, [])
            found = [
                row.truth + row.error
                for row in runs
                if row.truth is not None and row.error is not None
            ]
            truth = next((row.truth for row in runs if row.truth is not None), float("nan"))
            shown = " / ".join(figure(value) for value in found)
            lines.append([task, method, str(count), figure(truth), shown, str(len(runs))])
    return [
        "### The frame of the identity",
        "ISADRE trained with the derivative at fixed x, and with the total derivative along the "
        "moving sample, whose fixed point estimates every divergence as 0 (erratum 1).",
        table(["task", "frame", "evaluations", "exact KL", "found, by seed", "seeds"], lines),
        panels(_points(rows), "paper-frame", _SQUARED),
    ]


def _trajectories(results: Path) -> list[str]:
    rows = read_rows(results / "paper-secant-vs-tangent.jsonl", TrajectoryRow)
    if not rows:
        return []
    methods = list(dict.fromkeys(row.method for row in rows))
    lines = []
    for method in methods:
        runs = [row for row in rows if row.method == method and row.ratio is not None]
        means = [
            float(np.mean([getattr(row, name) for row in runs]))
            for name in ("variance_secant", "variance_tangent", "ratio")
        ]
        least = min(row.holds for row in runs if row.holds is not None)
        lines.append([method, *map(figure, means), f"{least:.1%}", str(len(runs))])
    header = ["secants", "Var u", "Var s", "Var u / Var s", "inequality holds", "seeds"]
    path = FIGURES / "paper-secant-vs-tangent.png"
    _draw_trajectories(results / "paper-secant-vs-tangent", methods, path)
    return [
        "### Secants against tangents",
        "From N(0, 1) to N(2, 0.3²), variances over times at fixed x (l ≤ t from two uniform "
        "draws, τ uniform between them), averaged over 500 rows of p_1; the last column but one is "
        "the share of those rows at which the inequality of the low-variance theorem holds, the "
        "minimum over seeds.",
        table(header, lines),
        f"![u(x, 0, t) and u(x, t, t) at fixed rows](figures/{path.name})",
    ]


def _draw_trajectories(folder: Path, methods: Sequence[str], path: Path) -> None:
    kept = [m for m in methods if (folder / f"{m}.npy").exists()]
    if not kept:
        return
    drawn = Figure(figsize=(3.4 * len(kept), 5.2), layout="constrained")
    panels = drawn.subplots(2, len(kept), squeeze=False, sharex=True, sharey=True)
    times = np.linspace(0.0, 1.0, SHOWN_TIMES)
    for column, method in enumerate(kept):
        both = np.load(folder / f"{method}.npy", allow_pickle=False)
        for axes, curves in zip(panels[:, column], both, strict=True):
            axes.plot(times, curves.T, color=BLUE, alpha=0.35, lw=0.8)
            axes.plot(times, curves.mean(axis=0), color=INK, lw=1.6)
            clean(axes)
        panels[0][column].set_title(method, color=INK, fontsize=11)
        panels[1][column].set_xlabel("t")
    panels[0][0].set_ylabel("secant u(x, 0, t)")
    panels[1][0].set_ylabel("tangent u(x, t, t)")
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=160)
