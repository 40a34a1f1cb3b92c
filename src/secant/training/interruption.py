"""Stopping a training by Ctrl-C without losing it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, current_thread, main_thread
from types import FrameType

__all__ = ["is_interrupted", "keeping_best_on_interrupt"]

_wish: ContextVar[Event | None] = ContextVar("wish to stop", default=None)


def is_interrupted() -> bool:
    """Whether the training that runs here was asked to stop."""
    wish = _wish.get()
    return wish is not None and wish.is_set()


@contextmanager
def keeping_best_on_interrupt() -> Iterator[Event]:
    """Within it, the first Ctrl-C ends a training after its chunk; the best state is kept.

    A second Ctrl-C raises `KeyboardInterrupt` as ever. Without it the first does: a cross-fit
    stopped in one fold should not go on with the next. In the main thread only, as all
    signals; elsewhere it changes nothing.

    Yields:
        An event, set by the first Ctrl-C.
    """
    wish = Event()
    if current_thread() is not main_thread():
        yield wish
        return

    def asked(number: int, frame: FrameType | None) -> None:
        del number, frame
        if wish.is_set():
            raise KeyboardInterrupt
        wish.set()

    earlier = signal.signal(signal.SIGINT, asked)
    token = _wish.set(wish)
    try:
        yield wish
    finally:
        _wish.reset(token)
        signal.signal(signal.SIGINT, earlier)
