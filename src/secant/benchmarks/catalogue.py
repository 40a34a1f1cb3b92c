"""Every suite by name, whatever kind it is of: what it holds and how it is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from secant.benchmarks.command_line import COMMAND_LINE, CommandRow, run_command_line
from secant.benchmarks.covariate_shift import METHODS as SHIFT_METHODS
from secant.benchmarks.covariate_shift import ShiftRow
from secant.benchmarks.covariate_shift import run as run_covariate_shift
from secant.benchmarks.density import DENSITY_SUITES, run_density
from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.information import INFORMATION_SUITES, run_information
from secant.benchmarks.information.rows import InformationRow
from secant.benchmarks.products import Selection
from secant.benchmarks.rows import Row
from secant.benchmarks.runner import run_suite
from secant.benchmarks.suites import SUITES

__all__ = ["AnyRow", "Listed", "listed", "run_named"]

AnyRow = Row | InformationRow | DensityRow | ShiftRow | CommandRow

_SHIFT = "covariate-shift"
_THROUGHPUT = "throughput"
_SEEDS, _SHIFT_SEEDS = 3, 20


@dataclass(frozen=True)
class Listed:
    """A suite at a glance.

    Attributes:
        name: of the suite and its results file.
        entries: how many fits one seed makes.
        about: one line.
    """

    name: str
    entries: int
    about: str


@cache
def listed() -> tuple[Listed, ...]:
    """All suites, in the order of the report; built once, for some compute their truth."""
    suites = [make() for make in SUITES.values()]
    information = [make() for make in INFORMATION_SUITES.values()]
    density = [make() for make in DENSITY_SUITES.values()]
    return (
        *(Listed(s.name, len(s.entries), s.about) for s in suites),
        *(Listed(i.name, len(i.tasks) * len(i.methods), i.about) for i in information),
        *(Listed(d.name, len(d.tasks) * len(d.methods), d.about) for d in density),
        Listed(_SHIFT, len(SHIFT_METHODS), "weights bring a biased table's mean back"),
        Listed(COMMAND_LINE.name, len(COMMAND_LINE.tasks), COMMAND_LINE.about),
        Listed(_THROUGHPUT, 3, "a training step against its bare matrix products"),
    )


def run_named(name: str, results: Path, selection: Selection) -> Iterator[AnyRow]:
    """Run what is not in the suite's results file yet, appending and yielding rows.

    `throughput` prints its rows itself and yields none.

    Args:
        name: of a suite.
        results: the folder of the results files.
        selection: of the runs.

    Raises:
        ValueError: for an unknown suite.
    """
    path = results / f"{name}.jsonl"
    if name in SUITES:
        yield from _run_suite(name, path, selection)
    elif name in INFORMATION_SUITES:
        yield from run_information(INFORMATION_SUITES[name](), path, selection)
    elif name in DENSITY_SUITES:
        yield from run_density(DENSITY_SUITES[name](), path, selection)
    elif name == _SHIFT:
        yield from run_covariate_shift(path, selection.n_seeds or _SHIFT_SEEDS)
    elif name == COMMAND_LINE.name:
        yield from run_command_line(path, selection)
    elif name == _THROUGHPUT:
        from secant.benchmarks.throughput import run_throughput

        run_throughput(path)
    else:
        names = ", ".join(suite.name for suite in listed())
        raise ValueError(f"There is no suite {name!r}; there are {names}.")


def _run_suite(name: str, path: Path, selection: Selection) -> Iterator[Row]:
    suite = SUITES[name]()
    wanted = tuple(e for e in suite.entries if selection.match in f"{e.task.name} | {e.method}")
    seeds = selection.n_seeds or _SEEDS
    return run_suite(replace(suite, entries=wanted), path, n_seeds=seeds, part=selection.part)
