"""Stopping a training by Ctrl-C, or by the end of a job, without losing it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, current_thread, main_thread
from types import FrameType

__all__ = ["is_interrupted", "keeping_best_on_interrupt"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_wish: ContextVar[Event | None] = ContextVar("wish to stop", default=None)


def is_interrupted() -> bool:
    """Whether the training that runs here was asked to stop."""
    wish = _wish.get()
    return wish is not None and wish.is_set()


@contextmanager
def keeping_best_on_interrupt() -> Iterator[Event]:
    """Within it, the first Ctrl-C ends a training after its chunk; the best state is kept.

    So does SIGTERM, by which systems end a job. A second of either raises `KeyboardInterrupt` as
    ever. Without it the first does: a cross-fit stopped in one fold should not go on with the next.
    In the main thread only, as all signals; elsewhere it changes nothing.

    Yields:
        An event, set by the first of them.
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

    earlier = {number: signal.signal(number, asked) for number in _SIGNALS}
    token = _wish.set(wish)
    try:
        yield wish
    finally:
        _wish.reset(token)
        for number, handler in earlier.items():
            signal.signal(number, handler)
