"""The section on mutual information, generated from committed rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from secant_bench.catalogue import Recipe
from secant_bench.information.rows import InformationRow
from secant_bench.panels import Point, panels
from secant_bench.rows import read_rows
from secant_bench.tables import figure, table

__all__ = ["information_sections", "information_summary"]

Rows = list[InformationRow]


def information_sections(results: Path) -> list[str]:
    """The sections on mutual information, for suites with rows."""
    makers = {
        "mi-coverage": _coverage,
        "mi-null": _false_positives,
        "two-sample-null": _false_positives,
        "mi-margins": _matrix,
        "bmi": _matrix,
        "peers-information": _errors,
        "paper-geometric-mi": _errors,
        "mi-gaussian": _errors,
        "mi-million": _errors,
    }
    sections = ["## Mutual information", _PREAMBLE]
    for name, make in makers.items():
        rows = read_rows(results / f"{name}.jsonl", InformationRow)
        if rows:
            about = Recipe(name).build().about
            about = about[0].upper() + about[1:]
            sections += [f"### {about}", _NOTES.get(name, ""), make(rows)]
            sections += [panels(_points(rows), name, _SQUARED)] if name in _DRAWN else []
    return [section for section in sections if section]


def information_summary(results: Path) -> str:
    """The tables for other pages: errors on the forty tasks, and coverage of intervals."""
    tables = [
        make(rows)
        for name, make in (("bmi", _summary), ("mi-coverage", _short_coverage))
        if (rows := read_rows(results / f"{name}.jsonl", InformationRow))
    ]
    return "\n\n".join(tables)


_PREAMBLE = (
    "`mutual_information` with its defaults, without the estimate along the path; *KSG* with k = "
    "3; *MINE* and *InfoNCE* with a network of the same width on standardised columns, trained "
    "on half of the rows, re-paired twenty times, with their own bound on the other half, 255 "
    "re-paired rows at a time; *path entropy* is `PathEntropy` cross-fitted. Each row of a table "
    "is one task; nothing is selected by the truth."
)
_NOTES = {
    "mi-coverage": "2,000 rows. Nominal 95 % intervals; *below* and *above* count the intervals "
    "that miss the truth on either side.",
    "mi-null": "2,000 rows.",
    "two-sample-null": "1,000 rows of each sample.",
    "mi-margins": "Absolute error in nats at 2,000 rows.",
    "bmi": "Absolute error in nats at 10,000 rows.",
    "peers-information": "10,000 rows. InfoNCE cannot exceed log 256 = 5.5. The mean of MINE's "
    "bound over batches is not a bound if batches miss the overlap.",
    "paper-geometric-mi": "10,000 rows.",
}
_DRAWN = ("peers-information", "paper-geometric-mi")
_SQUARED = "squared error, nats²"


def _grouped(rows: Rows) -> dict[tuple[str, str], Rows]:
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        groups.setdefault((row.task, row.method), []).append(row)
    return groups


def _points(rows: Rows) -> list[Point]:
    squares = ((r, None if r.estimate is None else (r.estimate - r.truth) ** 2) for r in rows)
    return [Point(r.task, r.method, r.evaluations, r.seconds, square) for r, square in squares]


def _known(rows: Sequence[InformationRow], name: str) -> np.ndarray:
    values = [getattr(row, name) for row in rows]
    return np.array([v for v in values if v is not None], dtype=np.float64)


def _coverage(rows: Rows) -> str:
    lines = []
    for (task, _), runs in _grouped(rows).items():
        truth, low, high = (_known(runs, name) for name in ("truth", "low", "high"))
        error = _known(runs, "estimate") - truth
        covered, below, above = (low <= truth) & (truth <= high), high < truth, truth < low
        lines.append(
            [
                task,
                figure(float(truth[0])),
                f"{covered.mean():.0%}",
                f"{below.mean():.0%} / {above.mean():.0%}",
                figure(float(error.mean())),
                figure(float(error.std())),
                figure(float(_known(runs, "standard_error").mean())),
                figure(float(_known(runs, "correction").mean())),
                str(len(runs)),
            ]
        )
    header = ["task", "truth", "covered", "below / above", "bias", "spread", "mean s.e."]
    return table([*header, "mean correction", "runs"], lines)


def _false_positives(rows: Rows) -> str:
    lines = []
    for (task, method), runs in _grouped(rows).items():
        p = _known(runs, "p_value")
        rates = [f"{np.mean(p <= level):.1%}" for level in (0.01, 0.05, 0.1, 0.5)]
        lines.append([task, method, *rates, str(p.size)])
    header = ["task", "method", "p ≤ 0.01", "p ≤ 0.05", "p ≤ 0.1", "p ≤ 0.5", "runs"]
    return table(header, lines)


def _matrix(rows: Rows) -> str:
    groups = _grouped(rows)
    tasks = list(dict.fromkeys(task for task, _ in groups))
    methods = list(dict.fromkeys(method for _, method in groups))
    errors = np.array([[_error(groups.get((t, m), [])) for m in methods] for t in tasks])
    lines = [
        [task, figure(groups[task, methods[0]][0].truth), *map(figure, cells)]
        for task, cells in zip(tasks, errors.tolist(), strict=True)
    ]
    whole = ~np.isnan(errors).any(axis=1)
    means = errors[whole].mean(axis=0)
    medians = np.median(errors[whole], axis=0)
    seconds = [
        float(np.mean(_known([r for r in rows if r.method == m], "seconds"))) for m in methods
    ]
    lines.append([f"**mean of {int(whole.sum())}**", "", *map(figure, means.tolist())])
    lines.append(["**median**", "", *map(figure, medians.tolist())])
    lines.append(["**seconds per task**", "", *map(figure, seconds)])
    return table(["task", "truth", *methods], lines)


def _summary(rows: Rows) -> str:
    """One line per method, over the tasks that all methods have."""
    groups = _grouped(rows)
    methods = list(dict.fromkeys(method for _, method in groups))
    tasks = [
        t for t in dict.fromkeys(r.task for r in rows) if all((t, m) in groups for m in methods)
    ]
    lines = []
    for method in methods:
        errors = np.array([_error(groups[task, method]) for task in tasks])
        seconds = _known([row for row in rows if row.method == method], "seconds")
        worst = f"{figure(float(errors.max()))} ({tasks[int(errors.argmax())]})"
        numbers = [figure(float(v)) for v in (errors.mean(), np.median(errors))]
        lines.append([method, *numbers, worst, figure(float(seconds.mean()))])
    header = ["method", "mean absolute error, nats", "median", "worst", "seconds per task"]
    return f"{len(tasks)} tasks, {rows[0].n_rows:,} rows:\n\n" + table(header, lines)


def _short_coverage(rows: Rows) -> str:
    lines = []
    for (task, _), runs in _grouped(rows).items():
        truth, low, high = (_known(runs, name) for name in ("truth", "low", "high"))
        share = float(np.mean((low <= truth) & (truth <= high)))
        error = figure(float(_known(runs, "standard_error").mean()))
        lines.append([task, figure(float(truth[0])), error, f"{share:.0%}", str(len(runs))])
    header = ["task", "truth", "mean s.e.", "coverage of 95 % intervals", "runs"]
    return f"{rows[0].n_rows:,} rows:\n\n" + table(header, lines)


def _error(runs: Rows) -> float:
    values = [abs(r.estimate - r.truth) for r in runs if r.estimate is not None]
    return float(np.mean(values)) if values else float("nan")


def _errors(rows: Rows) -> str:
    lines = []
    for (task, method), runs in _grouped(rows).items():
        estimate, truth = _known(runs, "estimate"), runs[0].truth
        error = estimate - truth
        lines.append(
            [
                task,
                method,
                figure(truth),
                figure(float(estimate.mean())),
                figure(float(np.mean(error**2))),
                f"{np.mean(np.abs(error)) / truth:.1%}",
                f"{np.mean(_known(runs, 'seconds')):.0f}",
                str(len(runs)),
            ]
        )
    header = ["task", "method", "truth", "estimate", "squared error", "relative error"]
    return table([*header, "seconds", "seeds"], lines)
