"""A progress bar on a terminal, silence everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

from secant.training.devices import current_devices
from secant.training.settings import Record

__all__ = ["Reporter", "labelled", "progress_bar"]

_label: ContextVar[str] = ContextVar("label of a fit", default="")


@runtime_checkable
class Reporter(Protocol):
    """Called after every look at the training."""

    def __call__(self, record: Record) -> None:
        """Show or store the record."""


@contextmanager
def labelled(text: str) -> Iterator[None]:
    """Within it, progress bars name the fit: `fold 2 of 5`."""
    outer = _label.get()
    token = _label.set(f"{outer}, {text}" if outer else text)
    try:
        yield
    finally:
        _label.reset(token)


@contextmanager
def progress_bar(total: int, *, show: bool | None) -> Iterator[Reporter]:
    """A reporter; `show=None` draws a bar only where standard error is a terminal.

    Until the first look it says "compiling". Of processes that train together only the first has
    one.
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
