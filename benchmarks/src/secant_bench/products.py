"""Benchmarks of every method on every task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Generic, Protocol, Self, TypeVar

__all__ = ["Product", "picked"]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Task = TypeVar("Task", bound=_Named)
Method = TypeVar("Method")


def picked(methods: Mapping[str, Method], *names: str) -> dict[str, Method]:
    """The methods of these names, in the given order."""
    return {name: methods[name] for name in names}


@dataclass(frozen=True)
class Product(Generic[Task, Method]):
    """Tasks × methods × seeds; abstract.

    Attributes:
        name: of the suite and its results file.
        about: a one-line description.
        tasks: the tasks.
        methods: the methods, by name.
        n_seeds: runs of each pair.
        alone: whether a run must be the only one on the machine, because its time matters.
        version: increased when the meaning of a task or a method changes.
    """

    name: str
    about: str
    tasks: tuple[Task, ...]
    methods: Mapping[str, Method] = field(repr=False)
    n_seeds: int = 3
    alone: bool = False
    version: int = 1

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """The task and method of each entry."""
        return [(task.name, method) for task, method in product(self.tasks, self.methods)]

    def task(self, name: str) -> Task:
        """The task of that name."""
        return next(task for task in self.tasks if task.name == name)

    def with_method(self, name: str, method: Any) -> Self:  # noqa: ANN401 -- a third party's
        """The benchmark with one more method, on every task."""
        return replace(self, methods={**self.methods, name: self._adapted(method)})

    def _adapted(self, method: Any) -> Method:  # noqa: ANN401 -- a third party's
        """A class of another library as a method of this benchmark."""
        raise ValueError(f"The suite {self.name} times this library: it accepts no other methods.")
