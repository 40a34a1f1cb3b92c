"""Stopping a training by Ctrl-C, or by the end of a job, without losing it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import Any

__all__ = ["HeldBack", "holding_back_signals", "is_interrupted", "keeping_best_on_interrupt"]

Handler = Callable[[int, FrameType | None], Any] | int | None

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
    In the main thread only, as all signals; elsewhere it changes nothing. Nor does it for a signal
    that the process was told to ignore, as by `nohup`.

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

    token = _wish.set(wish)
    try:
        with _handled_by(asked):
            yield wish
    finally:
        _wish.reset(token)


class HeldBack:
    """Signals that have come and not yet taken effect."""

    def __init__(self) -> None:
        self.number = 0  # of the one that has come; 0 for none
        self._earlier: dict[int, Handler] = {}

    def take(self, number: int) -> None:
        """Do as if this one had come, where such signals are held back."""
        if number in self._earlier:
            self.number = number

    def let_go(self) -> None:
        """Let the one that has come do what it would have done without us.

        Ctrl-C raises `KeyboardInterrupt`, SIGTERM ends the process; a handler of the user's own is
        called, and if it returns, so does this.
        """
        number, self.number = self.number, 0
        if number:
            ours = signal.signal(number, self._earlier[number])
            signal.raise_signal(number)
            signal.signal(number, ours)

    def _came(self, number: int, frame: FrameType | None) -> None:
        del frame
        was_waiting, self.number = bool(self.number), number
        if was_waiting:  # the second will not wait
            self.let_go()


@contextmanager
def holding_back_signals() -> Iterator[HeldBack]:
    """Within it Ctrl-C and SIGTERM wait until they are let go, once what they would lose is saved.

    A second of either takes effect at once. In the main thread only, as all signals; elsewhere, and
    within `keeping_best_on_interrupt`, which has its own way with them, it changes nothing.
    """
    held = HeldBack()
    if current_thread() is not main_thread() or _wish.get() is not None:
        yield held
        return
    with _handled_by(held._came) as held._earlier:
        yield held
    held.let_go()  # it came after the last look


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[dict[int, Handler]]:
    """Within it, signals go to a handler; but one that the process was told to ignore still is.

    Yields:
        The handlers they had before.
    """
    earlier: dict[int, Handler] = {number: signal.getsignal(number) for number in _SIGNALS}
    heard: dict[int, Handler] = {
        n: old for n, old in earlier.items() if old not in (signal.SIG_IGN, None)
    }
    for number in heard:
        signal.signal(number, handler)
    try:
        yield heard
    finally:
        for number, old in heard.items():
            signal.signal(number, old)
