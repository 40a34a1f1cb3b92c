"""The training engine compared with an older commit of the library, and with a script by hand.

Each run is a new process; the sides of a task run one after the other. The compilation cache is
empty, except for the side of a second process. Absolute seconds depend on the machine, so ratios
are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from secant_bench.benchmark import Outcome
from secant_bench.performance.engine_fits import COLD, tasks
from secant_bench.performance.source_trees import older_source, present_source, printed_by
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine

__all__ = ["BY_HAND", "OLDER", "PRESENT", "SECOND_PROCESS", "EngineRow", "EngineSuite", "engine"]

_COMMIT = "c98fcfe7fe12ae25395d2515a3b731fb1bad0adc"
PRESENT, OLDER, BY_HAND = "secant", f"secant at {_COMMIT[:7]}", "JAX by hand"
SECOND_PROCESS = "secant, second process"  # with the cache of the first, as by default
_FITS, _SCRIPT = (Path(__file__).with_name(name) for name in ("engine_fits.py", "by_hand.py"))
_SHAPE = ("steps", "batch_size", "width", "depth")


@dataclass(frozen=True)
class EngineRow(Run):
    """Cost and errors of one side of a task.

    Numbers are for the first fit of its process; those that begin with `warm` for the second, on
    other rows; for a grid, for all fits together. `loop_programs` counts the programs that contain
    the training loop. Errors of the log ratio (`rmse_…`) and of mutual information (`error`) are
    over both fits.
    """

    part: str
    seconds: float | None = None
    cpu_seconds: float | None = None
    programs: int | None = None
    loop_programs: int | None = None
    steps: int | None = None
    warm_seconds: float | None = None
    warm_cpu_seconds: float | None = None
    warm_programs: int | None = None
    warm_loop_programs: int | None = None
    warm_steps: int | None = None
    rmse_1: float | None = None
    rmse_0: float | None = None
    error: float | None = None
    batch_size: int | None = None
    width: int | None = None
    depth: int | None = None

    @property
    def numbers(self) -> str:
        """Seconds, programs and errors."""
        programs = "–" if self.programs is None else str(self.programs)
        return (
            f"{aligned(self.seconds)} s, warm {aligned(self.warm_seconds)} s, {programs} programs, "
            f"rmse {aligned(self.rmse_1)} / {aligned(self.rmse_0)}, error {aligned(self.error)}"
        )


@dataclass(frozen=True)
class _EngineTask:
    name: str

    @property
    def part(self) -> str:
        return self.name.partition(":")[0]


_Side = Callable[[str, int], dict[str, Any]]  # task and seed → numbers by name


@dataclass(frozen=True)
class EngineSuite(Product[_EngineTask, _Side]):
    """Tasks × compared sides; the script by hand has the cold start only."""

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Each task with its sides, one after the other."""
        return [pair for pair in super().pairs if pair[1] != BY_HAND or pair[0] == COLD]

    def blank(self, job: Job) -> EngineRow:
        """The row before measuring."""
        part = self.task(job.task).part
        return EngineRow(self.name, *job, part=part, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Measure in a new process."""
        found = self.methods[job.method](job.task, job.seed)
        return Outcome([replace(self.blank(job), **found, status="finished")])


def engine() -> EngineSuite:
    """Cold and warm fits, a grid of settings, and the defaults on pairs near and far."""
    about = f"cold and warm fits and compiled programs against {_COMMIT[:7]} and a script by hand"
    sides: dict[str, _Side] = {
        PRESENT: _present,
        SECOND_PROCESS: _second_process,
        OLDER: _older,
        BY_HAND: _by_hand,
    }
    names = tuple(map(_EngineTask, tasks()))
    return EngineSuite("performance-engine", about, names, sides, n_seeds=3, alone=True)


def _present(task: str, seed: int) -> dict[str, Any]:
    with present_source() as source:
        return printed_by(_FITS, source, task, "--seed", str(seed))


def _second_process(task: str, seed: int) -> dict[str, Any]:
    """Measure after a process that did the same, with the compilation cache of the default."""
    with present_source() as source, TemporaryDirectory() as folder:
        run = partial(printed_by, _FITS, source, task, "--seed", str(seed), programs=Path(folder))
        run()
        return run()


def _older(task: str, seed: int) -> dict[str, Any]:
    with older_source(_COMMIT) as source:
        return printed_by(_FITS, source, task, "--seed", str(seed))


def _by_hand(task: str, seed: int) -> dict[str, Any]:
    """Measure with the network and the steps of the library's fit, which is run to know them."""
    fit = _present(task, seed)
    shape = [f"--{name.replace('_', '-')}={fit[name]}" for name in _SHAPE]
    with present_source() as source:
        return printed_by(_SCRIPT, source, "--seed", str(seed), *shape)
