"""What a suite is made of: entries, each one method on one task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from secant.benchmarks.tasks import Task
from secant.estimators import RatioEstimator
from secant.integration import Rule, SecantSteps

__all__ = ["ITS_OWN", "ONE_PASS", "Entry", "Make", "Suite", "by_seed"]

Make = Callable[[int], RatioEstimator]  # random_state → estimator
ONE_PASS: tuple[Rule | None, ...] = (SecantSteps(1),)
ITS_OWN: tuple[Rule | None, ...] = (None,)


@dataclass(frozen=True)
class Entry:
    """One method on one task, judged by one or more integration rules."""

    task: Task
    method: str
    make: Make
    rules: tuple[Rule | None, ...] = ONE_PASS  # None is the method's own


@dataclass(frozen=True)
class Suite:
    """A named list of entries."""

    name: str
    about: str
    entries: tuple[Entry, ...]


def by_seed(make: Callable[..., RatioEstimator]) -> Make:
    """A maker of what takes `seed`."""
    return lambda seed: make(seed=seed)
