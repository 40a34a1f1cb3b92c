"""Time to accuracy: the same fit with ever more steps, until it is good enough.

Every rung is a fit of its own from start to end, compilation and learning-rate schedule included:
what it costs is what a user would have waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from secant.benchmarks.benchmark import Outcome
from secant.benchmarks.rows import Job, Run, aligned, machine

__all__ = ["Climb", "Ladders", "Rung", "RungRow", "seconds_to_goal"]

_FIRST_STEPS, _GROWTH = 125, 2
_ENOUGH = 2  # rungs on end that reach the goal


class Rung(NamedTuple):
    """What a fit took, and how far from the truth it came."""

    seconds: float
    miss: float


@dataclass(frozen=True)
class Climb:
    """One method on one task.

    Attributes:
        task: its name.
        method: its name.
        goal: what `miss` must be at most.
        fit: steps and seed → what came of it.
    """

    task: str
    method: str
    goal: float
    fit: Callable[[int, int], Rung]

    def rungs(self, seed: int, most_seconds: float) -> list[tuple[int, Rung]]:
        """Steps doubled until two fits on end reach the goal, or the next would take too long."""
        found: list[tuple[int, Rung]] = []
        steps = _FIRST_STEPS
        while True:
            found.append((steps, self.fit(steps, seed)))
            last = [rung.miss <= self.goal for _, rung in found[-_ENOUGH:]]
            if len(last) == _ENOUGH and all(last):
                return found
            if _next_seconds(found) > most_seconds:
                return found
            steps *= _GROWTH


def _next_seconds(found: Sequence[tuple[int, Rung]]) -> float:
    """Of the next rung, by the line through the last two: a part is the same at every rung."""
    last = found[-1][1].seconds
    if len(found) == 1:
        return last
    return last + _GROWTH * max(last - found[-2][1].seconds, 0.0)


@dataclass(frozen=True)
class RungRow(Run):
    """One rung. `miss` is an error of mutual information in nats, or a mean −log density."""

    goal: float
    steps: int | None = None
    seconds: float | None = None
    miss: float | None = None

    @property
    def numbers(self) -> str:
        """What it took and what it gave."""
        steps = "–" if self.steps is None else str(self.steps)
        return f"{steps:>7s} steps {aligned(self.seconds)} s {aligned(self.miss)} of {self.goal:g}"


def seconds_to_goal(rows: Sequence[RungRow]) -> float | None:
    """Seconds of the shortest fit from which on all longer ones reach the goal; None if none."""
    known = sorted(
        (row.steps, row.seconds, row.miss)
        for row in rows
        if row.steps is not None and row.seconds is not None and row.miss is not None
    )
    reached = None
    for _, seconds, miss in reversed(known):
        if not miss <= rows[0].goal:
            break
        reached = seconds
    return reached


@dataclass(frozen=True)
class Ladders:
    """Climbs, each with the machine to itself.

    Attributes:
        name: of the suite and its results file.
        about: one line.
        climbs: what is run.
        most_seconds: no fit is begun that would take longer.
    """

    name: str
    about: str
    climbs: tuple[Climb, ...]
    most_seconds: float
    n_seeds: int = 3
    alone: bool = True

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Task and method of each climb."""
        return [(climb.task, climb.method) for climb in self.climbs]

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """There is no common way to say how long a third party's method shall train."""
        raise ValueError(f"The suite {self.name} sets steps: it takes no other methods ({name}).")

    def blank(self, job: Job) -> RungRow:
        """The row before the fits."""
        return RungRow(self.name, *job, goal=self._climb(job).goal, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Climb; a row a rung."""
        blank = replace(self.blank(job), status="finished")
        rungs = self._climb(job).rungs(job.seed, self.most_seconds)
        return Outcome([replace(blank, steps=steps, **rung._asdict()) for steps, rung in rungs])

    def _climb(self, job: Job) -> Climb:
        return self.climbs[self.pairs.index((job.task, job.method))]
