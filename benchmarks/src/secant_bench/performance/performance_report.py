"""The section on speed, generated from committed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from secant_bench.performance.engine_report import engine_section
from secant_bench.performance.growth import GrowthRow, exponent
from secant_bench.performance.ladders import RungRow, seconds_to_goal
from secant_bench.performance.parts import PLAIN
from secant_bench.performance.pictures import draw_growth, draw_ladders
from secant_bench.performance.programs import ProgramRow
from secant_bench.performance.scoring import ScoringRow
from secant_bench.performance.startup import StartupRow
from secant_bench.performance.steps import StepRow
from secant_bench.rows import Run, groups, read_rows
from secant_bench.tables import figure, table

__all__ = ["performance_sections"]

_FIGURES = Path("docs/figures")
_OURS = ("secant", "SecantRatio")
_Kind = TypeVar("_Kind", bound=Run)


def performance_sections(results: Path) -> list[str]:
    """The sections for suites with rows; also draws their figures."""
    made = (
        _accuracy(results),
        _parts(results),
        _steps(results),
        _scoring(results),
        _programs(results),
        engine_section(results),
        _startup(results),
        _growth(results),
    )
    sections = [part for section in made for part in section]
    return ["## Speed", _ABOUT, *sections] if sections else []


_ABOUT = (
    "`secant bench run performance` repeats all of it, one run at a time. Ratios are of times "
    "measured alternately in one run; absolute seconds depend on the machine named below."
)


def _finished(path: Path, kind: type[_Kind]) -> list[_Kind]:
    return [row for row in read_rows(path, kind) if row.status == "finished"]


def _mean(values: Iterable[float | None]) -> str:
    known = [v for v in values if v is not None]
    return figure(float(np.mean(known))) if known else "–"


def _averaged(
    rows: Sequence[_Kind],
    lead: Callable[[_Kind], list[str]],
    *values: Callable[[_Kind], float | None],
) -> list[list[str]]:
    """One line per task: its name, means over its runs, and their number."""
    return [
        [*lead(runs[0]), *(_mean(map(value, runs)) for value in values), str(len(runs))]
        for runs in groups(rows, lambda row: row.task).values()
    ]


def _accuracy(results: Path) -> list[str]:
    rows = _finished(results / "performance-accuracy.jsonl", RungRow)
    if not rows:
        return []
    rows.sort(key=lambda row: not row.method.startswith(_OURS))
    lines = []
    for task, runs in groups(rows, lambda row: row.task).items():
        for method, climbed in groups(runs, lambda row: row.method).items():
            lines.append([task, method, *_reached(climbed)])
    path = _FIGURES / "time-to-accuracy.png"
    draw_ladders(rows, path)
    return [
        "### Time to accuracy",
        "Seconds to an error of one nat of 40 in 160 dimensions (new rows at every step; PyTorch "
        "has 100,000), and to a mean −log density of −0.2 on POWER (300,000 rows). Each method "
        "is fitted with few steps, then with four times as many, and so on, each fit from the "
        "start with its compilation and its own learning-rate schedule, until two consecutive "
        "fits reach the goal or one has used the time limit. A short fit of another kind runs "
        "first, so that the start of JAX is not counted. *Seconds* are those of the shortest fit "
        "such that all longer ones reach the goal; > marks those of the longest fit if it did "
        "not.",
        table(
            ["task", "method", "seconds, by seed", "smallest error", "its seconds", "seeds"], lines
        ),
        *_verdicts(rows),
        f"![Error against seconds](figures/{path.name})",
    ]


def _verdicts(rows: Sequence[RungRow]) -> list[str]:
    tasks = groups(rows, lambda row: row.task)
    return list(filter(None, (_verdict(task, runs) for task, runs in tasks.items())))


def _verdict(task: str, rows: Sequence[RungRow]) -> str:
    """Our time against that of the fastest other method, or the time limit if none reached it."""
    climbs = groups(rows, lambda row: row.method)
    waits = {method: _waited(climbed) for method, climbed in climbs.items()}
    ours = {method for method in waits if method.startswith(_OURS)}
    if not ours or len(ours) == len(waits):
        return ""
    our, other = (min(names, key=waits.__getitem__) for names in (ours, waits.keys() - ours))
    arrived = all(map(seconds_to_goal, _by_seed(climbs[other])))
    who = f"{other} does" if arrived else "no other method has reached it"
    return (
        f"**{task}**: {our} reaches the goal after {figure(waits[our])} s, {who} after "
        f"{figure(waits[other])} s, {waits[other] / waits[our]:.1f} times as long."
    )


def _by_seed(rows: Sequence[RungRow]) -> list[list[RungRow]]:
    return list(groups(rows, lambda row: str(row.seed)).values())


def _waited(rows: Sequence[RungRow]) -> float:
    """Seconds to the goal, or of the longest fit if it was not reached; mean over seeds."""
    return float(
        np.mean(
            [seconds_to_goal(r) or max(row.seconds or 0.0 for row in r) for r in _by_seed(rows)]
        )
    )


def _reached(rows: Sequence[RungRow]) -> list[str]:
    by_seed = _by_seed(rows)
    shown = " / ".join(
        f"{'' if seconds_to_goal(runs) else '> '}{figure(_waited(runs))}" for runs in by_seed
    )
    best = min((r for r in rows if r.miss is not None), key=lambda r: r.miss or 0.0, default=None)
    if best is None or best.miss is None or best.seconds is None:
        return [shown, "–", "–", str(len(by_seed))]
    return [shown, figure(best.miss), figure(best.seconds), str(len(by_seed))]


def _parts(results: Path) -> list[str]:
    rows = [row for row in read_rows(results / "performance-parts.jsonl") if not row.traceback]
    if not rows:
        return []
    by_method = groups(rows, lambda row: row.method)
    plain = np.mean([row.seconds or np.nan for row in by_method.get(PLAIN, [])] or [np.nan])
    lines = []
    for method, runs in by_method.items():
        seconds = float(np.mean([row.seconds or np.nan for row in runs]))
        errors = [abs(row.error) for row in runs if row.error is not None]
        lines.append(
            [
                method,
                _mean(errors),
                f"{figure(min(errors))} … {figure(max(errors))}" if errors else "–",
                _mean(row.rmse_1 for row in runs),
                _mean(row.rmse_0 for row in runs),
                figure(seconds),
                figure(seconds / float(plain)),
                str(len(runs)),
            ]
        )
    header = ["variant", "error of KL", "least … most", "RMSE on p_1", "RMSE on p_0", "seconds"]
    return [
        "### What each part is worth",
        "Ten nats in 40 dimensions, 512,000 new rows for each fit (1,000 steps of 512, unless "
        f"the variant says otherwise). The anchor contains these pairs; *{PLAIN}* is the "
        "network alone, and all lines below it change one part of that. Errors are means "
        "over seeds in nats; *share* is relative to the seconds of that line. *Mean velocity* "
        "replaces ẋ_t in the loss by E[ẋ_t | x_t] (F2): learned by flow matching in half of the "
        "steps, or in closed form, an upper limit of what learning could gain.",
        table([*header, "share", "seeds"], lines),
    ]


def _steps(results: Path) -> list[str]:
    rows = _finished(results / "performance-step.jsonl", StepRow)
    if not rows:
        return []
    lines = _averaged(
        rows,
        lambda r: [str(r.width), str(r.batch), str(r.n_features)],
        lambda r: r.step_ms,
        lambda r: r.bare_over_step,
        lambda r: r.torch_over_step,
        lambda r: r.bfloat_over_bare,
    )
    header = ["width", "batch", "features", "step, ms", "bare / step", "PyTorch / step"]
    return [
        "### A training step",
        "Time of the bare matrix products of a step (value, JVP, both cotangents and both shares "
        "of the gradient, for every layer) over the time of our whole step; time of the same step "
        "in eager PyTorch over ours. Where the first is near 1 the products dominate the step, "
        "and the second depends on the matrix products of the two libraries only. The last "
        "column is the bare products in bfloat16 over those in float32: where it is above 1, "
        "float32, which we use, is faster.",
        table([*header, "bfloat16 / float32", "runs"], lines),
    ]


def _programs(results: Path) -> list[str]:
    rows = _finished(results / "performance-programs.jsonl", ProgramRow)
    if not rows:
        return []
    lines = _averaged(
        rows,
        lambda r: [r.task],
        lambda r: r.first,
        lambda r: r.second,
        lambda r: r.second / r.first if r.second and r.first else None,
    )
    return [
        "### The start of a fit",
        "Seconds of a fit of one step (2,000 rows, 20 columns) in a new process, first with no "
        "compiled programs on disk, then with those cached by the first process "
        "(`secant.keep_programs`).",
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
        "pass's bare matrix products, in blocks of 1,024 rows, over that of scoring; *MB* is the "
        "peak memory of scoring beyond the rows.",
        table(["width", "rows", "model", "rows / s", "bare / scoring", "MB"], lines),
    ]


def _startup(results: Path) -> list[str]:
    rows = _finished(results / "performance-startup.jsonl", StartupRow)
    if not rows:
        return []
    lines = _averaged(
        rows, lambda r: [r.task], lambda r: r.seconds, lambda r: r.yardstick, lambda r: r.share
    )
    return [
        "### The start of a process",
        "Seconds of a new process, the minimum of five, alternating with `import jax` alone. "
        "`import secant` imports lazily; the first estimator imports scikit-learn and SciPy.",
        table(["what", "seconds", "`import jax`", "ratio", "runs"], lines),
    ]


def _growth(results: Path) -> list[str]:
    rows = _finished(results / "performance-growth.jsonl", GrowthRow)
    if not rows:
        return []
    lines = []
    for varied, sizes in groups(rows, lambda row: row.by).items():
        for method, runs in groups(sizes, lambda row: row.method).items():
            smallest, largest = (
                [r for r in runs if r.value == end(x.value for x in runs)] for end in (min, max)
            )
            lines.append(
                [
                    varied,
                    method,
                    f"{smallest[0].value:,} … {largest[0].value:,}",
                    " … ".join(_mean([r.seconds for r in e]) for e in (smallest, largest)),
                    figure(exponent(runs, lambda r: r.seconds)),
                    " … ".join(_mean([r.mib for r in e]) for e in (smallest, largest)),
                    figure(exponent(runs, lambda r: r.mib)),
                ]
            )
    path = _FIGURES / "growth.png"
    draw_growth(rows, path)
    header = ["varied", "what", "from … to", "seconds", "exponent", "MiB", "exponent"]
    return [
        "### How cost grows",
        "A fit of 200 steps (batch 512, compilation included) and a pass of scoring, each in a "
        "separate process, with 20,000 rows, 8 columns and width 128 unless varied. *MiB* is the "
        "memory beyond that of an idle JAX, without pages of mapped files. "
        "An exponent b means cost ∝ size^b, fitted on the larger half of the sizes.",
        table(header, lines),
        f"![Seconds and memory against rows, columns and width](figures/{path.name})",
    ]
