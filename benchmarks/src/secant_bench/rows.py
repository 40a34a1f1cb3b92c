"""Result rows: one flat JSON object a line, kept as soon as it is known."""

from __future__ import annotations

import abc
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar, overload

from secant._host.atomic_files import one_at_a_time, write_atomically
from secant._host.provenance import machine

__all__ = [
    "Job",
    "Row",
    "Run",
    "aligned",
    "groups",
    "keep_rows",
    "machine",
    "n_outdated",
    "read_rows",
    "read_states",
]


_Kind = TypeVar("_Kind", bound="Run")


class Job(NamedTuple):
    """What makes a run the same run."""

    task: str
    method: str
    seed: int


@dataclass(frozen=True)
class Run(abc.ABC):
    """One method on one task with one seed: what every kind of row has.

    `status` is "finished", how a training ended, "failed" (the traceback beside it), or "skipped:"
    with the reason; `version` is that of the list it was made from.
    """

    suite: str
    task: str
    method: str
    seed: int
    status: str = field(default="", kw_only=True)
    traceback: str = field(default="", kw_only=True)
    machine: str = field(default="", kw_only=True)
    version: int = field(default=1, kw_only=True)

    @property
    @abc.abstractmethod
    def numbers(self) -> str:
        """What was found, on one line."""

    @property
    def key(self) -> Job:
        """The run that it is a row of."""
        return Job(self.task, self.method, self.seed)


@dataclass(frozen=True)
class Row(Run):
    """One evaluated fit.

    Errors are of the log ratio against the exact one on fresh rows: `error` is the mean difference
    over rows of p_1, so the error of KL(p_1‖p_0) or MI free of evaluation noise.
    """

    evaluations: int
    truth: float | None = None
    estimate: float | None = None
    error: float | None = None
    rmse_1: float | None = None
    rmse_0: float | None = None
    spread_1: float | None = None  # standard deviation of the exact log ratio over p_1
    spread_0: float | None = None
    held_out: float | None = None
    logistic: float | None = None  # loss of the log ratio as a logit, and (K2) over all bridges
    bridges: float | None = None
    seconds: float | None = None
    steps: int | None = None
    n_rows: int | None = None  # of each sample; None for fresh rows at every step
    config: str = ""

    @property
    def numbers(self) -> str:
        """Truth and errors."""
        return (
            f"x{self.evaluations:<3d} truth {aligned(self.truth)} error {aligned(self.error)}"
            f" rmse {aligned(self.rmse_1)} / {aligned(self.rmse_0)} {aligned(self.seconds)} s"
        )


def aligned(value: float | None) -> str:
    """A number of seven places, or a dash."""
    return "      –" if value is None else f"{value:7.3f}"


def groups(rows: Sequence[_Kind], key: Callable[[_Kind], str]) -> dict[str, list[_Kind]]:
    """Rows by what they have in common, in the order of the first of each."""
    found: dict[str, list[_Kind]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def keep_rows(path: Path, rows: Sequence[Run]) -> None:
    """Add the rows of a run to a file, all or none; earlier rows of the same run give way.

    The file is replaced whole, so that a process killed at any moment leaves no half of a run, and
    one process at a time, so that several may share it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    keys = {row.key for row in rows}
    with one_at_a_time(path):
        lines = [line for line in _lines(path) if _key(line) not in keys]
        lines += [_line(row) for row in rows]
        write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def _line(row: Run) -> str:
    """Infinities and NaN become null, so that the file stays plain JSON."""
    return json.dumps({k: _plain(v) for k, v in asdict(row).items()}, ensure_ascii=False)


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_states(path: Path, version: int) -> dict[Job, str]:
    """The status of each run of a version in a file, of whichever kind its rows are."""
    return {
        _key(line): json.loads(line)["status"] for line in _lines(path) if _version(line) == version
    }


def n_outdated(path: Path, version: int) -> int:
    """How many rows of a file were made from another version of the list."""
    return sum(_version(line) != version for line in _lines(path))


def _version(line: str) -> int:
    return int(json.loads(line).get("version", 1))  # lists had none at first


def _key(line: str) -> Job:
    found = json.loads(line)
    return Job(found["task"], found["method"], found["seed"])


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@overload
def read_rows(path: Path) -> list[Row]: ...
@overload
def read_rows(path: Path, kind: type[_Kind]) -> list[_Kind]: ...
def read_rows(path: Path, kind: type = Row) -> list[Row] | list[_Kind]:
    """All rows of a file, of the kind it holds; none if it does not exist."""
    return [kind(**json.loads(line)) for line in _lines(path)]
