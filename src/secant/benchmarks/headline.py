"""The table at the top of the README: the paper's figure, the best other method's, and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.information.rows import InformationRow
from secant.benchmarks.rows import Row, Run, read_rows
from secant.benchmarks.tables import figure, table

__all__ = ["headline"]

_Kind = TypeVar("_Kind", bound=Run)
Scores = Mapping[str, float]  # method → error or likelihood, lower is better


@dataclass(frozen=True)
class _Line:
    """One figure of merit.

    Attributes:
        what: it is.
        paper: the figure that ISA-DRE's paper gives, as it gives it.
        scores: of the methods measured here.
        ours: which of them is this library's.
        own: others of this library's making, which are no peers.
    """

    what: str
    paper: str
    scores: Scores
    ours: str
    own: tuple[str, ...] = ()

    def cells(self) -> list[str]:
        others = {m: s for m, s in self.scores.items() if m not in (self.ours, *self.own)}
        best = min(others, key=lambda m: others[m]) if others else None
        peer = "–" if best is None else f"{figure(others[best])} ({best})"
        mine = self.scores.get(self.ours, float("nan"))
        return [self.what, self.paper, peer, f"**{figure(mine)}**"]


def headline(results: Path) -> str:
    """A line a job, of whichever have rows."""
    lines = [line for line in _lines(results) if line.ours in line.scores]
    header = ["", "the paper", "best other method, measured here", "secant"]
    return table(header, [line.cells() for line in lines])


def _lines(results: Path) -> list[_Line]:
    def rows(name: str, kind: type[_Kind]) -> list[_Kind]:
        return read_rows(results / f"{name}.jsonl", kind)

    geometric = rows("paper-geometric-mi", InformationRow)
    tables = rows("density-tables", DensityRow) + rows("paper-tabular", DensityRow)
    bases = ("Gaussian copula", "mixture in copula space", "SecantRatio")
    return [
        _Line(
            "mutual information of 40 nats in 160 dimensions: squared error, one evaluation",
            "0.72 (two evaluations)",
            {
                **_scores(rows("paper-gaussian-mi", Row), "block-gaussians-160d", _square),
                **_scores(rows("foundation", Row), "block-gaussians-160d", _square),
            },
            # Not the Gaussian anchor, which holds this pair exactly.
            "plain network",
            (
                "Gaussian anchor",
                "quadratic features",
                "SecantRatio",
                "SecantRatio, plain network",
            ),
        ),
        *(
            _Line(
                f"mutual information of {name}: squared error",
                paper,
                _scores(geometric, task, _squared),
                "secant",
                ("path entropy",),
            )
            for name, task, paper in (
                ("AsinhMapping", "asinh-student", "0.0010"),
                ("AdditiveNoise", "1v1-additive", "0.0031"),
            )
        ),
        _Line(
            "mutual information of the 40 tasks of Beyond Normal: mean absolute error",
            "–",
            _scores(rows("bmi", InformationRow), "", _absolute),
            "secant",
            ("path entropy",),
        ),
        _Line(
            "densities of the plane: nats above the truth, mean of nine",
            "–",
            _scores(rows("paper-toy2d", DensityRow), "", _excess),
            "secant",
            ("SecantRatio",),
        ),
        _Line(
            "POWER: NLL", "−0.61 (not normalised)", _scores(tables, "power", _nll), "secant", bases
        ),
        _Line(
            "BSDS300: NLL",
            "−150.54 (not normalised)",
            _scores(tables, "bsds300", _nll),
            "secant",
            bases,
        ),
        _Line(
            "MINIBOONE, 6.9k rows: NLL",
            "–",
            _scores(rows("density-miniboone", DensityRow), "miniboone", _nll),
            "secant",
        ),
    ]


def _scores(rows: Sequence[_Kind], task: str, score: Callable[[_Kind], float | None]) -> Scores:
    """The mean of each method over its runs on tasks of that name; the best of its evaluations."""
    found: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        value = score(row)
        if row.task.startswith(task) and value is not None:
            place = (row.method, getattr(row, "evaluations", None) or 0)
            found.setdefault(place, []).append(value)
    means: dict[str, float] = {}
    for (method, _), values in found.items():
        means[method] = min(means.get(method, np.inf), float(np.mean(values)))
    return means


def _square(row: Row) -> float | None:
    return None if row.error is None else row.error**2


def _squared(row: InformationRow) -> float | None:
    return None if row.estimate is None else (row.estimate - row.truth) ** 2


def _absolute(row: InformationRow) -> float | None:
    return None if row.estimate is None else abs(row.estimate - row.truth)


def _nll(row: DensityRow) -> float | None:
    return row.nll


def _excess(row: DensityRow) -> float | None:
    return None if row.nll is None or row.truth is None else row.nll - row.truth
