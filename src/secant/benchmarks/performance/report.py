"""Speed as tables and figures, derived from committed rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from matplotlib.figure import Figure

from secant.benchmarks.performance.growth import GrowthRow, exponent
from secant.benchmarks.performance.ladders import RungRow, seconds_to_goal
from secant.benchmarks.performance.programs import ProgramRow
from secant.benchmarks.performance.scoring import ScoringRow
from secant.benchmarks.performance.startup import StartupRow
from secant.benchmarks.performance.steps import StepRow
from secant.benchmarks.rows import Run, read_rows
from secant.benchmarks.tables import figure, table
from secant.report.style import COLOURS, INK, clean

__all__ = ["performance_sections"]

_FIGURES = Path("docs/figures")
_Kind = TypeVar("_Kind", bound=Run)


def performance_sections(results: Path) -> list[str]:
    """The sections of whichever suites have rows; figures are drawn on the way."""
    made = (
        _accuracy(results),
        _parts(results),
        _steps(results),
        _scoring(results),
        _programs(results),
        _startup(results),
        _growth(results),
    )
    sections = [part for section in made for part in section]
    return ["## Speed", _ABOUT, *sections] if sections else []


_ABOUT = (
    "`secant bench run performance` repeats all of it, one run at a time. Ratios are of times "
    "measured in turn in one run; absolute seconds belong to the machine named below."
)


def _finished(path: Path, kind: type[_Kind]) -> list[_Kind]:
    return [row for row in read_rows(path, kind) if row.status == "finished"]


def _by(rows: Sequence[_Kind], key: Callable[[_Kind], str]) -> dict[str, list[_Kind]]:
    found: dict[str, list[_Kind]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _mean(values: Sequence[float | None]) -> str:
    known = [v for v in values if v is not None]
    return figure(float(np.mean(known))) if known else "–"


def _accuracy(results: Path) -> list[str]:
    rows = _finished(results / "performance-accuracy.jsonl", RungRow)
    if not rows:
        return []
    lines = []
    for task, runs in _by(rows, lambda row: row.task).items():
        for method, climbed in _by(runs, lambda row: row.method).items():
            lines.append([task, method, *_reached(climbed)])
    path = _FIGURES / "time-to-accuracy.png"
    _draw_ladders(rows, path)
    return [
        "### Time to accuracy",
        "Seconds to an error of one nat of 40 in 160 dimensions (fresh rows; PyTorch has 100,000), "
        "and to a mean −log density of −0.2 on POWER. Each method is fitted with 125 steps, 250, "
        "and so on, every fit from start to end with its compilation and its own learning-rate "
        "schedule, until two on end reach the goal or the next would take more than four minutes. "
        "*Seconds* are of the shortest fit from which on all longer ones reach it.",
        table(["task", "method", "seconds, by seed", "best miss", "its seconds", "seeds"], lines),
        f"![Error against seconds](figures/{path.name})",
    ]


def _reached(rows: Sequence[RungRow]) -> list[str]:
    by_seed = _by(rows, lambda row: str(row.seed))
    times = [seconds_to_goal(runs) for runs in by_seed.values()]
    shown = " / ".join("not reached" if t is None else figure(t) for t in times)
    best = min((r for r in rows if r.miss is not None), key=lambda r: r.miss or 0.0, default=None)
    if best is None or best.miss is None or best.seconds is None:
        return [shown, "–", "–", str(len(by_seed))]
    return [shown, figure(best.miss), figure(best.seconds), str(len(by_seed))]


def _draw_ladders(rows: Sequence[RungRow], path: Path) -> None:
    tasks = _by(rows, lambda row: row.task)
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


def _parts(results: Path) -> list[str]:
    rows = _finished(results / "performance-parts.jsonl", RungRow)
    if not rows:
        return []
    lines = [
        [method, *_reached(climbed)] for method, climbed in _by(rows, lambda r: r.method).items()
    ]
    return [
        "### What each part is worth",
        "Seconds to a quarter of the ten nats of 40 dimensions, as above, with one thing changed "
        "at a time and ninety seconds at most. The anchor holds these pairs exactly, so the other "
        "lines are without it.",
        table(["variant", "seconds, by seed", "best miss", "its seconds", "seeds"], lines),
    ]


def _steps(results: Path) -> list[str]:
    rows = _finished(results / "performance-step.jsonl", StepRow)
    if not rows:
        return []
    lines = [
        [
            str(runs[0].width),
            str(runs[0].batch),
            str(runs[0].n_features),
            _mean([r.step_ms for r in runs]),
            _mean([r.bare_over_step for r in runs]),
            _mean([r.torch_over_step for r in runs]),
            _mean([r.bfloat_over_bare for r in runs]),
            str(len(runs)),
        ]
        for runs in _by(rows, lambda row: row.task).values()
    ]
    header = ["width", "batch", "features", "step, ms", "bare / step", "PyTorch / step"]
    return [
        "### A training step",
        "Time of the bare matrix products of a step (value, JVP, both cotangents and both shares "
        "of the gradient, for every layer) over the time of our whole step; time of the same step "
        "in eager PyTorch over ours. Where the first is near 1 the step is nothing but its "
        "products, and the second is bounded by how fast the two libraries multiply. The last "
        "column is the bare products in bfloat16 over those in float32: where it is above 1, "
        "float32 is the faster of the two, and it is what we compute in.",
        table([*header, "bfloat16 / float32", "runs"], lines),
    ]


def _programs(results: Path) -> list[str]:
    rows = _finished(results / "performance-programs.jsonl", ProgramRow)
    if not rows:
        return []
    lines = [
        [
            task,
            _mean([r.first for r in runs]),
            _mean([r.second for r in runs]),
            _mean([r.second / r.first for r in runs if r.second and r.first]),
            str(len(runs)),
        ]
        for task, runs in _by(rows, lambda row: row.task).items()
    ]
    return [
        "### The start of a fit",
        "Seconds of a fit of one step (2,000 rows, 20 columns) in a new process, first with no "
        "compiled programs on disk, then with those that the first process left there "
        "(`secant.keep_programs`, which the command line does by itself).",
        table(["estimator", "first", "second", "second / first", "runs"], lines),
    ]


def _scoring(results: Path) -> list[str]:
    rows = _finished(results / "performance-scoring.jsonl", ScoringRow)
    if not rows:
        return []
    lines = [
        [
            str(row.width),
            f"{row.n_rows:,}",
            row.method,
            "–" if row.rows_per_second is None else f"{row.rows_per_second:,.0f}",
            _mean([row.bare_over_scoring]),
            "–" if row.memory_growth is None else f"{row.memory_growth / 1e6:.1f}",
        ]
        for row in rows
    ]
    return [
        "### Scoring",
        "`log_ratio` of rows of 63 columns, NumPy in and NumPy out. The ratio is the time of the "
        "pass's bare matrix products, in blocks of 1,024 rows, over that of scoring; *MB* is what "
        "scoring takes beyond the rows, at its highest.",
        table(["width", "rows", "model", "rows / s", "bare / scoring", "MB"], lines),
    ]


def _startup(results: Path) -> list[str]:
    rows = _finished(results / "performance-startup.jsonl", StartupRow)
    if not rows:
        return []
    lines = [
        [f"`{row.task}`", _mean([row.seconds]), _mean([row.yardstick]), _mean([row.share])]
        for row in rows
    ]
    return [
        "### The start of a process",
        "Seconds of a new process, the least of seven, in turn with `import jax` alone. "
        "`import secant` loads nothing until a name is asked for; the first estimator brings "
        "scikit-learn and SciPy with it.",
        table(["what", "seconds", "`import jax`", "ratio"], lines),
    ]


def _growth(results: Path) -> list[str]:
    rows = _finished(results / "performance-growth.jsonl", GrowthRow)
    if not rows:
        return []
    lines = []
    for by, sizes in _by(rows, lambda row: row.by).items():
        for method, runs in _by(sizes, lambda row: row.method).items():
            smallest, largest = (
                [r for r in runs if r.value == end(x.value for x in runs)] for end in (min, max)
            )
            lines.append(
                [
                    by,
                    method,
                    f"{smallest[0].value:,} … {largest[0].value:,}",
                    " … ".join(_mean([r.seconds for r in e]) for e in (smallest, largest)),
                    figure(exponent(runs, lambda r: r.seconds)),
                    " … ".join(_mean([r.mib for r in e]) for e in (smallest, largest)),
                    figure(exponent(runs, lambda r: r.mib)),
                ]
            )
    path = _FIGURES / "growth.png"
    _draw_growth(rows, path)
    header = ["varied", "what", "from … to", "seconds", "exponent", "MiB", "exponent"]
    return [
        "### How cost grows",
        "A fit of 200 steps (batch 512, compilation included) and a pass of scoring, each in a "
        "process of its own, with 20,000 rows, 8 columns and width 128 where they are not varied. "
        "*MiB* is how far the process grew beyond an idle JAX. An exponent b means cost ∝ size^b, "
        "fitted on the larger half of the sizes.",
        table(header, lines),
        f"![Seconds and memory against rows, columns and width](figures/{path.name})",
    ]


def _draw_growth(rows: Sequence[GrowthRow], path: Path) -> None:
    varied = _by(rows, lambda row: row.by)
    methods = list(dict.fromkeys(row.method for row in rows))
    drawn = Figure(figsize=(3.6 * len(varied), 5.4), layout="constrained")
    panels = drawn.subplots(2, len(varied), squeeze=False, sharex="col", sharey="row")
    for column, (by, sizes) in enumerate(varied.items()):
        for method, runs in _by(sizes, lambda row: row.method).items():
            colour = COLOURS[methods.index(method)]
            by_value = _by(runs, lambda row: f"{row.value:012d}")
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
        panels[1][column].set_xlabel(by)
    panels[0][0].set_ylabel("seconds")
    panels[1][0].set_ylabel("MiB beyond an idle JAX")
    handles, labels = panels[0][0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=110)
