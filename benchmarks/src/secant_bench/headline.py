"""The README's table of results: the paper's figure, the best other method's, and ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from secant_bench.density.rows import DensityRow
from secant_bench.information.rows import InformationRow
from secant_bench.rows import Row, Run, read_rows
from secant_bench.scores import (
    Scores,
    absolute,
    by_reliability,
    excess,
    nll,
    scores,
    square,
    squared,
)
from secant_bench.tables import figure, table

__all__ = ["headline"]

_Kind = TypeVar("_Kind", bound=Run)


@dataclass(frozen=True)
class _Line:
    """One figure of merit.

    Attributes:
        what: its description.
        paper: the figure in ISA-DRE's paper.
        scores: of the methods measured here.
        ours: the method of this library.
        own: other methods of this library, which are not counted as peers.
        doubted: likelihoods with an unreliable normaliser: shown, but not counted.
    """

    what: str
    paper: str
    scores: Scores
    ours: str
    own: tuple[str, ...] = ()
    doubted: Scores = field(default_factory=dict)

    def cells(self) -> list[str]:
        others = self._of_others(self.scores)
        mine = figure(self.scores.get(self.ours, float("nan")))
        first = [self.what, self.paper, self._isadre()]
        if not others:
            return [*first, "–", f"**{mine}**"]
        best = min(others, key=lambda m: others[m])
        peer, lost = figure(others[best]), others[best] < self.scores[self.ours]
        doubted = self._doubted(others[best])
        if lost:
            return [*first, f"**{peer}** ({best}){doubted}", mine]
        return [*first, f"{peer} ({best}){doubted}", f"**{mine}**"]

    def _isadre(self) -> str:
        """The score of ISADRE, the paper's method, here."""
        if "ISADRE" in self.scores:
            return figure(self.scores["ISADRE"])
        return f"{figure(self.doubted['ISADRE'])} †" if "ISADRE" in self.doubted else "–"

    def _of_others(self, scores: Scores) -> Scores:
        own = (self.ours, *self.own)
        return {m: s for m, s in scores.items() if m not in own and not m.startswith("ISADRE")}

    def _doubted(self, reliable: float) -> str:
        """A better score with an unreliable normaliser, if there is one."""
        others = self._of_others(self.doubted)
        best = min(others, key=lambda m: others[m], default=None)
        if best is None or others[best] >= reliable:
            return ""
        return f"; {figure(others[best])} † ({best})"


def headline(results: Path) -> str:
    """The table, with one line per task that has rows."""
    lines = [line for line in _lines(results) if line.ours in line.scores]
    header = ["", "paper", "ISADRE here", "best other here", "secant"]
    return table(header, [line.cells() for line in lines])


def _not_annealed(
    doubted: Sequence[DensityRow], rows: Sequence[DensityRow]
) -> Sequence[DensityRow]:
    """Rows without another estimate of the normaliser by annealing."""
    sought = {(row.task, row.method) for row in rows if row.nll is not None}
    return [row for row in doubted if (row.task, f"{row.method}, annealed") not in sought]


def _is_at_two(row: Row) -> bool:
    """Whether a row has two evaluations, as the paper's figure; always true for other methods."""
    return row.evaluations == 2 or not row.method.startswith("ISADRE")


def _lines(results: Path) -> list[_Line]:
    def rows(name: str, kind: type[_Kind]) -> list[_Kind]:
        return read_rows(results / f"{name}.jsonl", kind)

    gaussian = [r for r in rows("paper-gaussian-mi", Row) if _is_at_two(r)]
    geometric = rows("paper-geometric-mi", InformationRow)
    tables = rows("density-tables", DensityRow) + rows("paper-tabular", DensityRow)
    reliable, doubted = by_reliability(tables)
    bases = ("Gaussian copula", "mixture in copula space", "SecantRatio")
    return [
        _Line(
            "MI, 40 nats in 160-d: squared error",
            "0.72",
            scores(gaussian, "block-gaussians-160d", square),
            "SecantRatio",
            ("SecantRatio, plain network",),
        ),
        *(
            _Line(
                f"MI, {name}: squared error",
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
            "MI, Beyond Normal: mean absolute error",
            "–",
            scores(rows("bmi", InformationRow), "", absolute),
            "secant",
            ("path entropy",),
        ),
        _Line(
            "nine densities of the plane: nats above truth",
            "–",
            scores(rows("paper-toy2d", DensityRow), "", excess),
            "secant",
            ("SecantRatio",),
        ),
        *(
            _Line(
                f"{task.upper()}: NLL",
                f"{paper} ‡",
                scores(reliable, task, nll),
                "secant",
                bases,
                scores(_not_annealed(doubted, tables), task, nll),
            )
            for task, paper in (("power", "−0.61"), ("bsds300", "−150.54"))
        ),
        _Line(
            "MINIBOONE, 6.9k rows: NLL",
            "–",
            scores(rows("peers-density", DensityRow), "miniboone", nll),
            "secant",
        ),
    ]
