"""The table at the top of the README: the paper's figure, the best other method's, and ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.information.rows import InformationRow
from secant.benchmarks.rows import Row, Run, read_rows
from secant.benchmarks.scores import Scores, absolute, excess, nll, scores, square, squared
from secant.benchmarks.tables import figure, table

__all__ = ["headline"]

_Kind = TypeVar("_Kind", bound=Run)


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
        mine = figure(self.scores.get(self.ours, float("nan")))
        if not others:
            return [self.what, self.paper, "–", f"**{mine}**"]
        best = min(others, key=lambda m: others[m])
        peer, lost = figure(others[best]), others[best] < self.scores[self.ours]
        if lost:
            return [self.what, self.paper, f"**{peer}** ({best})", mine]
        return [self.what, self.paper, f"{peer} ({best})", f"**{mine}**"]


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
            "mutual information of 40 nats in 160 dimensions: squared error (our anchor contains "
            "such pairs)",
            "0.72",
            scores(rows("paper-gaussian-mi", Row), "block-gaussians-160d", square),
            "SecantRatio",
            ("SecantRatio, plain network",),
        ),
        *(
            _Line(
                f"mutual information of {name}: squared error",
                paper,
                scores(geometric, task, squared),
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
            scores(rows("bmi", InformationRow), "", absolute),
            "secant",
            ("path entropy",),
        ),
        _Line(
            "densities of the plane: nats above the truth, mean of nine",
            "–",
            scores(rows("paper-toy2d", DensityRow), "", excess),
            "secant",
            ("SecantRatio",),
        ),
        _Line(
            "POWER: NLL", "−0.61 (not normalised)", scores(tables, "power", nll), "secant", bases
        ),
        _Line(
            "BSDS300: NLL",
            "−150.54 (not normalised)",
            scores(tables, "bsds300", nll),
            "secant",
            bases,
        ),
        _Line(
            "MINIBOONE, 6.9k rows: NLL",
            "–",
            scores(rows("peers-density", DensityRow), "miniboone", nll),
            "secant",
        ),
    ]
