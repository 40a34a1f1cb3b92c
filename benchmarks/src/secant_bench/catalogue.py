"""All benchmarks, of any kind, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import cast

from secant_bench.benchmark import Benchmark
from secant_bench.budgets import Budget
from secant_bench.command_line import command_line
from secant_bench.covariate_shift import covariate_shift
from secant_bench.density.suites import DENSITY_SUITES, plane, tabular
from secant_bench.information.suites import INFORMATION_SUITES, geometric
from secant_bench.performance import PERFORMANCE_SUITES
from secant_bench.plugins import imported, is_import_name
from secant_bench.suites import SUITES, ablation, frame, gaussian_mi
from secant_bench.training_curves import training_curves
from secant_bench.trajectories import trajectories

__all__ = ["Recipe", "family", "listed"]

_MAKERS: dict[str, Callable[[], Benchmark]] = {
    **SUITES,
    **INFORMATION_SUITES,
    **DENSITY_SUITES,
    "covariate-shift": covariate_shift,
    "command-line": command_line,
    **PERFORMANCE_SUITES,
}
_PAPER: dict[str, Callable[[Budget], Benchmark]] = {
    "paper-gaussian-mi": gaussian_mi.suite,
    "paper-geometric-mi": geometric,
    "paper-toy2d": plane,
    "paper-tabular": tabular,
    "paper-ablation": ablation.suite,
    "paper-training": training_curves,
    "paper-secant-vs-tangent": trajectories,
    "paper-frame": frame.suite,
}


@dataclass(frozen=True)
class Recipe:
    """A recipe to build a benchmark in any process.

    Attributes:
        suite: a name in the catalogue, or the import path `package.module:name` of a suite.
        budget: its computing budget.
        added: import paths of additional methods, `package.module:Class`.
    """

    suite: str
    budget: Budget = Budget.STANDARD
    added: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of the results file."""
        tail = self.budget.pick("-small", "", "-paper")
        return f"{self.build().name}{tail}.jsonl"

    def build(self) -> Benchmark:
        """Build the benchmark.

        Raises:
            ValueError: there is no benchmark of that name, or none with that budget.
        """
        return _built(self)


@cache  # computing the truth of some tasks needs JAX
def _built(recipe: Recipe) -> Benchmark:
    benchmark = _made(recipe)
    for name in recipe.added:
        benchmark = benchmark.with_method(name, imported(name))
    return benchmark


def _made(recipe: Recipe) -> Benchmark:
    name = recipe.suite
    if name in _PAPER:
        return _PAPER[name](recipe.budget)
    if recipe.budget is not Budget.STANDARD:
        raise ValueError(f"The suite {name} has no budget but {Budget.STANDARD}.")
    if is_import_name(name):
        found = imported(name)
        return cast(Benchmark, found() if callable(found) else found)
    if name in _MAKERS:
        return _MAKERS[name]()
    known = ", ".join([*_PAPER, *_MAKERS])
    raise ValueError(f"There is no suite {name!r}; there are {known}.")


def family(name: str) -> tuple[str, ...]:
    """The suite of that name, or all suites whose names begin with it, such as `performance`."""
    known = (*_MAKERS, *_PAPER)
    members = tuple(suite for suite in known if suite.startswith(f"{name}-"))
    return (name,) if name in known or not members else members


@cache
def listed() -> tuple[Benchmark, ...]:
    """All benchmarks, in the order of the report."""
    return tuple(Recipe(name).build() for name in (*_MAKERS, *_PAPER))
