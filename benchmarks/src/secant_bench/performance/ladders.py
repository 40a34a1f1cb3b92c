"""Time to accuracy: the same fit with more and more steps, until it reaches the goal.

Every rung is a separate fit, with its own compilation and learning-rate schedule: its seconds are
what a user would wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from secant_bench.benchmark import Outcome
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["Climb", "Goal", "Ladders", "Rung", "RungRow", "seconds_to_goal"]

_FIRST_STEPS, _GROWTH, _LEAST_GROWTH = 32, 4, 1.5
_ENOUGH = 2  # consecutive rungs that reach the goal


class Rung(NamedTuple):
    """The seconds and the error of one fit."""

    seconds: float
    miss: float


class Goal(NamedTuple):
    """A goal on a task.

    Attributes:
        task: its name.
        miss: the error to reach.
        seconds: time limit of a fit.
    """

    task: str
    miss: float
    seconds: float


@dataclass(frozen=True)
class Climb:
    """The fits of one method towards a goal.

    Attributes:
        goal: the goal, shared with other methods.
        method: its name.
        fit: a function of steps and seed that fits once.
    """

    goal: Goal
    method: str
    fit: Callable[[int, int], Rung]

    def rungs(self, seed: int) -> list[tuple[int, Rung]]:
        """Increase the steps until two consecutive fits reach the goal or one uses its time."""
        found: list[tuple[int, Rung]] = []
        steps: int | None = _FIRST_STEPS
        while steps is not None:
            found.append((steps, self.fit(steps, seed)))
            last = [rung.miss <= self.goal.miss for _, rung in found[-_ENOUGH:]]
            reached = len(last) == _ENOUGH and all(last)
            steps = None if reached else _next_steps(found, self.goal.seconds)
        return found


def _next_steps(found: Sequence[tuple[int, Rung]], most_seconds: float) -> int | None:
    """Four times as many steps, or as many as the time limit allows; None once it is used.

    Extrapolates linearly from the last two rungs, because each rung has a constant part.
    """
    steps, last = found[-1]
    if len(found) == 1:
        return _GROWTH * steps
    before, earlier = found[-2]
    a_step = (last.seconds - earlier.seconds) / (steps - before)
    most = steps + int((most_seconds - last.seconds) / max(a_step, 1e-9))
    if most < _LEAST_GROWTH * steps:
        return None
    # If there would be no time for a further rung, use the time limit now.
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
        """The steps, the seconds and the error."""
        steps = "–" if self.steps is None else str(self.steps)
        return f"{steps:>7s} steps {aligned(self.seconds)} s {aligned(self.miss)} of {self.goal:g}"


def seconds_to_goal(rows: Sequence[RungRow]) -> float | None:
    """Seconds of the shortest fit such that all longer ones reach the goal; None if none does."""
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
    """A suite of climbs, each alone on the machine.

    Attributes:
        name: of the suite and its results file.
        about: a one-line description.
        climbs: the climbs.
        warm_up: run before a climb, so that the start of JAX and loading the data are not counted.
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
        """The task and method of each climb."""
        return [(climb.goal.task, climb.method) for climb in self.climbs]

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """Raise an error: there is no common way to set the steps of another library's method."""
        raise ValueError(f"The suite {self.name} sets steps: it takes no other methods ({name}).")

    def blank(self, job: Job) -> RungRow:
        """The row before the fits."""
        return RungRow(self.name, *job, goal=self._climb(job).goal.miss, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Run a climb, with one row per rung."""
        blank = replace(self.blank(job), status="finished")
        self.warm_up()
        rungs = self._climb(job).rungs(job.seed)
        return Outcome([replace(blank, steps=steps, **rung._asdict()) for steps, rung in rungs])

    def _climb(self, job: Job) -> Climb:
        return self.climbs[self.pairs.index((job.task, job.method))]
