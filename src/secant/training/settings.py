"""Settings of a training run, its records, status and progress bar."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx

from secant.training.devices import current_devices

__all__ = ["Record", "Reporter", "Status", "Training", "labelled", "progress_bar"]

_label: ContextVar[str] = ContextVar("label of a fit", default="")


class Training(eqx.Module):
    """Settings of a training run.

    Attributes:
        steps: step budget.
        batch_size: rows of each sample per step.
        learning_rate: peak of the warm-up and cosine schedule.
        warmup: steps of linear warm-up.
        clip: global norm at which gradients are clipped.
        average: decay of the exponential moving average of the weights, which the model uses.
        evaluate_every: minimum number of steps between two evaluations of the held-out loss.
            Later intervals are an eighth of the steps done, if that is more.
        patience: evaluations without improvement before training stops, unless the last of them is
            the lowest; None never stops early.
        validation_share: share of the rows held out to select the best state, and the same share
            held out for diagnostics.
        validation_rows: maximum number of rows held out for either.
        max_seconds: wall-clock budget, compilation included; None for no limit.
    """

    steps: int = 6000
    batch_size: int = 512
    learning_rate: float = 1e-3
    warmup: int = 200
    clip: float = 1.0
    average: float = 0.999
    evaluate_every: int = 50
    patience: int | None = 14
    validation_share: float = 0.1
    validation_rows: int = 8192
    max_seconds: float | None = None

    def __check_init__(self) -> None:
        for name in ("steps", "batch_size", "warmup", "evaluate_every", "validation_rows"):
            if not float(getattr(self, name)).is_integer():
                raise ValueError(f"Training needs a whole {name}; got {getattr(self, name)}.")
        if self.warmup < 0:
            raise ValueError(f"Training needs warmup >= 0; got {self.warmup}.")
        positive = ("steps", "batch_size", "learning_rate", "clip", "evaluate_every")
        for name in (*positive, "validation_rows"):
            if not getattr(self, name) > 0:  # so that NaN fails too
                raise ValueError(f"Training needs {name} > 0; got {getattr(self, name)}.")
        if not 0.0 < self.validation_share < 1.0:
            raise ValueError(f"validation_share must lie in (0, 1); got {self.validation_share}.")
        if not 0.0 <= self.average < 1.0:
            raise ValueError(f"average must lie in [0, 1); got {self.average}.")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be None or at least 1; got {self.patience}.")
        if self.max_seconds is not None and self.max_seconds <= 0.0:
            raise ValueError(f"max_seconds must be None or positive; got {self.max_seconds}.")

    def steps_to_next_look(self, step: int) -> int:
        """The number of steps until the next evaluation of the held-out loss."""
        return min(max(self.evaluate_every, step // 8), self.steps - step)

    def slower(self, factor: float, seconds: float) -> Training | None:
        """The same at a smaller learning rate, with the remaining wall-clock budget.

        None if no time is left.
        """
        rate, left = self.learning_rate / factor, self.max_seconds
        if left is None:
            return replace(self, learning_rate=rate)
        left -= seconds
        return replace(self, learning_rate=rate, max_seconds=left) if left > 0.0 else None


class Status(enum.Enum):
    """How a training run ended; the value is the message for users."""

    RUNNING = "Still training."
    FINISHED = "All steps done."
    EARLY_STOPPED = "Stopped early: the held-out loss no longer fell."
    TIME_UP = (
        "Stopped by the wall-clock budget before the last step; "
        "raise Training.max_seconds for a better fit."
    )
    INTERRUPTED = "Stopped by you; the best state so far is kept. More steps may fit better."
    DIVERGED = (
        "The loss became infinite or NaN; the best earlier state is kept. "
        "Look for extreme outliers in the data, or try a learning rate a hundred times smaller."
    )

    @property
    def is_good(self) -> bool:
        """Whether training ended normally."""
        return self in (Status.FINISHED, Status.EARLY_STOPPED)


class Record(NamedTuple):
    """A record of one evaluation."""

    step: int
    seconds: float
    loss: float
    held_out: float


@runtime_checkable
class Reporter(Protocol):
    """A callback after every evaluation."""

    def __call__(self, record: Record) -> None:
        """Show or store the record."""


@contextmanager
def labelled(text: str) -> Iterator[None]:
    """A context in which progress bars name the fit: `fold 2 of 5`."""
    outer = _label.get()
    token = _label.set(f"{outer}, {text}" if outer else text)
    try:
        yield
    finally:
        _label.reset(token)


@contextmanager
def progress_bar(total: int, *, show: bool | None) -> Iterator[Reporter]:
    """A reporter; `show=None` draws a bar only where standard error is a terminal.

    Until the first evaluation it shows "compiling". Of several processes only the first shows one.
    """
    if current_devices().process > 0 or not (sys.stderr.isatty() if show is None else show):
        yield lambda record: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        TimeLeft(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_label.get() or "training", total=total, state="compiling")

        def report(record: Record) -> None:
            rate = record.step / max(record.seconds, 1e-9)
            state = f"loss {record.loss:.4g}  held-out {record.held_out:.4g}  {rate:.0f} steps/s"
            bar.update(task, completed=record.step, state=state)

        yield report
