"""Result rows: one flat JSON object per line, written as soon as its run ends."""

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
    """The key that identifies a run."""

    task: str
    method: str
    seed: int


@dataclass(frozen=True)
class Run(abc.ABC):
    """One method on one task with one seed: the fields of every kind of row.

    `status` is "finished", the end of a training, "failed" (with `traceback`), or "skipped:" with
    the reason; `version` is that of the suite's list.
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
        """The results, on one line."""

    @property
    def key(self) -> Job:
        """The run of this row."""
        return Job(self.task, self.method, self.seed)


@dataclass(frozen=True)
class Row(Run):
    """One evaluated fit.

    Errors are those of the log ratio on fresh rows. `error` is the mean difference from the exact
    one over rows of p_1: the error of KL(p_1‖p_0) or MI without evaluation noise.
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
    logistic: float | None = None  # logistic loss of the log ratio, and (K2) over all bridges
    bridges: float | None = None
    seconds: float | None = None
    steps: int | None = None
    n_rows: int | None = None  # of each sample; None for fresh rows at every step
    config: str = ""

    @property
    def numbers(self) -> str:
        """The truth and the errors."""
        return (
            f"x{self.evaluations:<3d} truth {aligned(self.truth)} error {aligned(self.error)}"
            f" rmse {aligned(self.rmse_1)} / {aligned(self.rmse_0)} {aligned(self.seconds)} s"
        )


def aligned(value: float | None) -> str:
    """A number in seven characters, or a dash."""
    return "      –" if value is None else f"{value:7.3f}"


def groups(rows: Sequence[_Kind], key: Callable[[_Kind], str]) -> dict[str, list[_Kind]]:
    """Rows grouped by a key, in order of first occurrence."""
    found: dict[str, list[_Kind]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def keep_rows(path: Path, rows: Sequence[Run]) -> None:
    """Add the rows of a run to a file atomically, in place of earlier rows of the same run.

    The file is locked, so several processes may share it; a process killed at any moment leaves
    the old file or the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    keys = {row.key for row in rows}
    with one_at_a_time(path):
        lines = [line for line in _lines(path) if _key(line) not in keys]
        lines += [_line(row) for row in rows]
        write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def _line(row: Run) -> str:
    """The value with infinities and NaN as null, because JSON does not have them."""
    return json.dumps({k: _plain(v) for k, v in asdict(row).items()}, ensure_ascii=False)


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_states(path: Path, version: int) -> dict[Job, str]:
    """The status of each run of a version in a file, for rows of any kind."""
    return {
        _key(line): json.loads(line)["status"] for line in _lines(path) if _version(line) == version
    }


def n_outdated(path: Path, version: int) -> int:
    """The number of rows of a file with another version of the list."""
    return sum(_version(line) != version for line in _lines(path))


def _version(line: str) -> int:
    return int(json.loads(line).get("version", 1))  # the first lists had no version


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
    """All rows of a file; none if it does not exist."""
    return [kind(**json.loads(line)) for line in _lines(path)]
