"""Time to accuracy: the same fit with ever more steps, until it is good enough.

Every rung is a fit of its own from start to end, compilation and learning-rate schedule included:
what it costs is what a user would have waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from secant_bench.benchmark import Outcome
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["Climb", "Goal", "Ladders", "Rung", "RungRow", "seconds_to_goal"]

_FIRST_STEPS, _GROWTH, _LEAST_GROWTH = 32, 4, 1.5
_ENOUGH = 2  # rungs on end that reach the goal


class Rung(NamedTuple):
    """What a fit took, and how far from the truth it came."""

    seconds: float
    miss: float


class Goal(NamedTuple):
    """What is to be reached.

    Attributes:
        task: its name.
        miss: that is small enough.
        seconds: that a fit may take.
    """

    task: str
    miss: float
    seconds: float


@dataclass(frozen=True)
class Climb:
    """One method on its way to a goal.

    Attributes:
        goal: of this method and of others.
        method: its name.
        fit: steps and seed → what came of it.
    """

    goal: Goal
    method: str
    fit: Callable[[int, int], Rung]

    def rungs(self, seed: int) -> list[tuple[int, Rung]]:
        """Ever more steps until two fits on end reach the goal, or all seconds are spent on one."""
        found: list[tuple[int, Rung]] = []
        steps: int | None = _FIRST_STEPS
        while steps is not None:
            found.append((steps, self.fit(steps, seed)))
            last = [rung.miss <= self.goal.miss for _, rung in found[-_ENOUGH:]]
            reached = len(last) == _ENOUGH and all(last)
            steps = None if reached else _next_steps(found, self.goal.seconds)
        return found


def _next_steps(found: Sequence[tuple[int, Rung]], most_seconds: float) -> int | None:
    """Four times as many, or as many as there is time for; None when that time is spent.

    By the line through the last two rungs: a part of the seconds is the same at every rung.
    """
    steps, last = found[-1]
    if len(found) == 1:
        return _GROWTH * steps
    before, earlier = found[-2]
    a_step = (last.seconds - earlier.seconds) / (steps - before)
    most = steps + int((most_seconds - last.seconds) / max(a_step, 1e-9))
    if most < _LEAST_GROWTH * steps:
        return None
    # What would leave no time for a rung above it is that rung.
    return most if most < _LEAST_GROWTH * _GROWTH * steps else _GROWTH * steps


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
        warm_up: done before a climb, so that the first in a process does not pay for the start of
            JAX and of the data.
    """

    name: str
    about: str
    climbs: tuple[Climb, ...]
    warm_up: Callable[[], object] = lambda: None
    n_seeds: int = 3
    alone: bool = True
    version: int = 1

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Task and method of each climb."""
        return [(climb.goal.task, climb.method) for climb in self.climbs]

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """There is no common way to say how long a third party's method shall train."""
        raise ValueError(f"The suite {self.name} sets steps: it takes no other methods ({name}).")

    def blank(self, job: Job) -> RungRow:
        """The row before the fits."""
        return RungRow(self.name, *job, goal=self._climb(job).goal.miss, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Climb; a row a rung."""
        blank = replace(self.blank(job), status="finished")
        self.warm_up()
        rungs = self._climb(job).rungs(job.seed)
        return Outcome([replace(blank, steps=steps, **rung._asdict()) for steps, rung in rungs])

    def _climb(self, job: Job) -> Climb:
        return self.climbs[self.pairs.index((job.task, job.method))]
