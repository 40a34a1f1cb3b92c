"""Tasks on which another method is better than ours, from the committed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from secant_bench.density.rows import DensityRow
from secant_bench.information.rows import InformationRow
from secant_bench.rows import Row, Run, read_rows
from secant_bench.scores import absolute, by_reliability, nll, rmse, scores, square
from secant_bench.tables import figure, table

__all__ = ["Loss", "losses", "lost_section"]

_Kind = TypeVar("_Kind", bound=Run)
_OURS = ("secant", "SecantRatio")  # the defaults of this library
_ALSO_OURS = (
    "SecantRatio, plain network",
    "ClassifierRatio",
    "path entropy",
    "secant, uncorrected",
)


class Loss(NamedTuple):
    """One task on which another method is better.

    Attributes:
        suite: of the rows.
        task: its name.
        merit: the figure of merit.
        ours: that of our default.
        theirs: that of the best other method.
        winner: the name of that method.
    """

    suite: str
    task: str
    merit: str
    ours: float
    theirs: float
    winner: str


def losses(results: Path) -> list[Loss]:
    """All such tasks, suite by suite."""

    def rows(name: str, kind: type[_Kind]) -> list[_Kind]:
        return read_rows(results / f"{name}.jsonl", kind)

    tables = rows("density-tables", DensityRow) + rows("paper-tabular", DensityRow)
    return [
        *_lost("squared error", rows("paper-gaussian-mi", Row), square),
        *_lost("error by row", rows("peers-ratio", Row), rmse),
        *_lost("error", rows("peers-information", InformationRow), absolute),
        *_lost("error", rows("paper-geometric-mi", InformationRow), absolute),
        *_lost("error", rows("bmi", InformationRow), absolute),
        *_lost("NLL", by_reliability(rows("paper-toy2d", DensityRow))[0], nll),
        *_lost("NLL", by_reliability([*tables, *rows("peers-density", DensityRow)])[0], nll),
    ]


def _lost(
    merit: str, rows: Sequence[_Kind], score: Callable[[_Kind], float | None]
) -> Iterator[Loss]:
    for task in dict.fromkeys(row.task for row in rows):
        own = [row for row in rows if row.task == task]
        found = scores(own, task, score)
        ours = next((found[name] for name in _OURS if name in found), None)
        others = {m: s for m, s in found.items() if m not in (*_OURS, *_ALSO_OURS)}
        if ours is None or not others:
            continue
        winner = min(others, key=lambda method: others[method])
        if others[winner] < ours and figure(others[winner]) != figure(ours):
            yield Loss(own[0].suite, task, merit, ours, others[winner], winner)


def lost_section(results: Path) -> list[str]:
    """The section of the page, if there are such tasks."""
    found = losses(results)
    if not found:
        return []
    lines = [
        [loss.suite, loss.task, loss.merit, figure(loss.ours), figure(loss.theirs), loss.winner]
        for loss in found
    ]
    return [
        "## Where we lose",
        "Tasks of the suites below on which another method is better than the default of this "
        "library: means over seeds, in nats, lower is better. Likelihoods with an unreliable "
        "normaliser († below) are not counted, for any method.",
        table(["suite", "task", "what", "ours", "theirs", "by"], lines),
    ]
