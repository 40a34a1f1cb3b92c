"""A progress bar on a terminal, silence everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from secant.training.devices import current_devices
from secant.training.history import Record

__all__ = ["Reporter", "progress_bar"]


@runtime_checkable
class Reporter(Protocol):
    """Is told of every look at the training."""

    def __call__(self, record: Record) -> None:
        """Show or store the record."""


@contextmanager
def progress_bar(total: int, *, show: bool | None, label: str = "training") -> Iterator[Reporter]:
    """A reporter; `show=None` draws a bar only where standard error is a terminal.

    Of processes that train together only the first has one.
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
        TextColumn("loss {task.fields[loss]:.4g}  held-out {task.fields[held_out]:.4g}"),
        TextColumn("{task.fields[rate]:.0f} steps/s"),
        TimeElapsedColumn(),
        TimeLeft(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, loss=float("nan"), held_out=float("nan"), rate=0.0)

        def report(record: Record) -> None:
            rate = record.step / max(record.seconds, 1e-9)
            bar.update(
                task,
                completed=record.step,
                loss=record.loss,
                held_out=record.held_out,
                rate=rate,
            )

        yield report
