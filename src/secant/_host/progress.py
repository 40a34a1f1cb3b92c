"""A progress bar over a list of items."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

__all__ = ["tracked"]

T = TypeVar("T")


def tracked(items: Sequence[T], description: str, *, show: bool | None) -> Iterable[T]:
    """The items, with a progress bar on standard error; None shows it on a terminal only."""
    if not (sys.stderr.isatty() if show is None else show):
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, description=description, console=Console(stderr=True), transient=True)
