"""Result rows: one flat JSON object a line, appended as soon as it is known."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from secant.provenance import machine

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Row", "Run", "aligned", "append_row", "machine", "read_rows"]


_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Run:
    """One method on one task with one seed: the start of every kind of row."""

    suite: str
    task: str
    method: str
    seed: int

    @property
    def numbers(self) -> str:
        """What was found, on one line."""
        raise NotImplementedError

    @property
    def key(self) -> tuple[str, str, int]:
        """What makes a run the same run."""
        return self.task, self.method, self.seed


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
    status: str = ""
    traceback: str = ""
    machine: str = ""

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


def append_row(path: Path, row: DataclassInstance) -> None:
    """Append one line; infinities and NaN become null so that the file stays plain JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {k: _plain(v) for k, v in asdict(row).items()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(plain, ensure_ascii=False) + "\n")


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


@overload
def read_rows(path: Path) -> list[Row]: ...
@overload
def read_rows(path: Path, kind: type[_Kind]) -> list[_Kind]: ...
def read_rows(path: Path, kind: type = Row) -> list[Row] | list[_Kind]:
    """All rows of a file, of the kind it holds; none if it does not exist."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [kind(**json.loads(line)) for line in lines if line.strip()]
