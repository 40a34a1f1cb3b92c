"""Tables of the benchmarks that other pages of the documentation include."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from secant_bench.covariate_shift import ShiftRow, shift_table
from secant_bench.density.density_report import density_summary
from secant_bench.information.information_report import information_summary
from secant_bench.rows import Row, read_rows
from secant_bench.tables import figure, geometric_mean, table, whole

__all__ = ["write_fragments"]


def write_fragments(results: Path, folder: Path) -> None:
    """Write one Markdown file per table."""
    fragments = {
        "methods.md": _method_table(read_rows(results / "baselines.jsonl")),
        "information.md": information_summary(results),
        "densities.md": density_summary(results),
        "covariate-shift.md": shift_table(read_rows(results / "covariate-shift.jsonl", ShiftRow)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in fragments.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


def _method_table(rows: list[Row]) -> str:
    """One line per method: its errors on the tasks, the cost per row and the cost of a fit."""
    truths = {row.task: row.truth for row in rows if row.truth is not None}
    tasks = sorted(truths, key=lambda task: (truths[task], task))
    lines = [_line(name, [r for r in rows if r.method == name], tasks) for name in _methods(rows)]
    lines.sort(key=lambda line: line[0])
    heads = [f"{task.split(',')[0]} ({figure(truths[task])})" for task in tasks]
    return table(
        ["method", *heads, "evaluations per row", "seconds per fit"], [cells for _, cells in lines]
    )


def _methods(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows))


def _line(name: str, rows: list[Row], tasks: list[str]) -> tuple[float, list[str]]:
    """The geometric mean of a method's errors, to sort by, and its cells."""
    errors, seconds = [], []
    for task in tasks:
        mine = [row for row in rows if row.task == task]
        errors.append(_mean(abs(row.error) for row in mine if row.error is not None))
        seconds.append(min((r.seconds for r in mine if r.seconds is not None), default=np.nan))
    evaluations = whole(_mean(row.evaluations for row in rows))
    place = geometric_mean(errors)
    cells = [name, *map(figure, errors), evaluations, figure(geometric_mean(seconds))]
    return place if np.isfinite(place) else np.inf, cells


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return float(np.mean(known)) if known else float("nan")
