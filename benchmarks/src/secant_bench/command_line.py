"""Running times of the command line: its help, and a comparison of two large tables."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from secant.tables.files import write_table
from secant_bench.benchmark import Outcome
from secant_bench.performance.timing import seconds_of
from secant_bench.products import Product
from secant_bench.rows import Job, Run, aligned, machine, read_rows
from secant_bench.tables import figure, table

__all__ = ["CommandRow", "CommandSuite", "command_line", "command_section"]

_SECANT = (sys.executable, "-c", "from secant.cli import main; main()")
_JAX = (sys.executable, "-c", "import jax")
_LOOKS = 7
_ROWS, _COLUMNS = 100_000, 20


@dataclass(frozen=True)
class CommandRow(Run):
    """The wall-clock time of one command, in seconds.

    `yardstick` is the time of `python -c "import jax"`, measured alternately. For a comparison,
    `truth` and `estimate` are KL(p_1‖p_0) in nats.
    """

    seconds: float | None = None
    yardstick: float | None = None
    truth: float | None = None
    estimate: float | None = None
    standard_error: float | None = None

    @property
    def numbers(self) -> str:
        """The times, and the estimate beside the truth."""
        return (
            f"{aligned(self.seconds)} s, import jax {aligned(self.yardstick)} s, "
            f"truth {aligned(self.truth)} estimate {aligned(self.estimate)}"
        )


@dataclass(frozen=True)
class _CommandTask:
    name: str
    measured: Callable[[CommandRow], CommandRow]


def _help(row: CommandRow) -> CommandRow:
    pairs = [(seconds_of([*_SECANT, "--help"]), seconds_of(_JAX)) for _ in range(_LOOKS)]
    own, jax = np.median(pairs[1:], axis=0)  # the first run reads from disk
    return replace(row, seconds=float(own), yardstick=float(jax))


def _compared(row: CommandRow, shift: float) -> CommandRow:
    """Unit normals, all columns of the second shifted: KL = d shift²/2."""
    rng = np.random.default_rng(row.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, mean in (("a", 0.0), ("b", shift)):
            rows = rng.normal(mean, 1.0, (_ROWS, _COLUMNS))
            columns = {f"x{i}": rows[:, i] for i in range(_COLUMNS)}
            write_table(folder / f"{file}.parquet", pa.table(columns))
        paths = [str(folder / p) for p in ("a.parquet", "b.parquet")]
        began = time.perf_counter()
        printed = _run([*_SECANT, "compare", *paths, "-o", str(folder / "report"), "--json"])
        seconds = time.perf_counter() - began
    found = json.loads(printed)["result"]["kl"]
    return replace(
        row,
        seconds=seconds,
        truth=0.5 * _COLUMNS * shift**2,
        estimate=found["estimate"],
        standard_error=found["standard_error"],
    )


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class CommandSuite(Product[_CommandTask, None]):
    """Timed commands; the only method is the command itself."""

    def blank(self, job: Job) -> CommandRow:
        """The row before the command runs."""
        return CommandRow(self.name, *job, machine=machine())

    def run(self, job: Job) -> Outcome:
        """Run and time the command."""
        measured = self.task(job.task).measured(self.blank(job))
        return Outcome([replace(measured, status="finished")])


def command_line() -> CommandSuite:
    """Help, and comparisons of overlapping and of distant tables."""
    tasks = (
        _CommandTask("help", _help),
        _CommandTask("compare, overlapping", lambda row: _compared(row, 0.1)),
        _CommandTask("compare, apart", lambda row: _compared(row, 1.2)),
    )
    about = "seconds of `--help`, and of comparing two tables of 100k × 20 with a report"
    return CommandSuite("command-line", about, tasks, {"secant": None}, alone=True)


def command_section(results: Path) -> list[str]:
    """The section of the page, if there are rows."""
    rows = [r for r in read_rows(results / "command-line.jsonl", CommandRow) if r.seconds]
    tasks = dict.fromkeys(row.task for row in rows)
    lines = [_line(task, [row for row in rows if row.task == task]) for task in tasks]
    header = ["command", "seconds", "of `import jax`", "exact KL", "found", "seeds"]
    return ["## The command line", _ABOUT, table(header, lines)] if lines else []


def _line(task: str, runs: Sequence[CommandRow]) -> list[str]:
    share = [r.seconds / r.yardstick for r in runs if r.seconds and r.yardstick]
    found = [r.estimate for r in runs if r.estimate is not None]
    return [
        task,
        " … ".join(figure(end(r.seconds for r in runs if r.seconds)) for end in (min, max)),
        figure(float(np.mean(share))) if share else "–",
        figure(runs[0].truth) if runs[0].truth is not None else "–",
        figure(float(np.mean(found))) if found else "–",
        str(len(runs)),
    ]


_ABOUT = (
    "Wall-clock time of the process. `--help` is the median of six runs that alternate with "
    '`python -c "import jax"`. Comparisons are of two Parquet files of 100,000 rows × 20 columns '
    "and include writing the report; programs compiled by an earlier comparison are cached."
)
