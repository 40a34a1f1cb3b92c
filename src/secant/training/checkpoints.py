"""Checkpoints and interruption: a stopped run resumes with a bit-identical result."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import Any

from secant._host.atomic_files import cause_in_words, check_writable
from secant.training.checkpoint_files import CheckpointError, Progress, Slot
from secant.training.devices import highest

__all__ = [
    "Folder",
    "checkpointing",
    "is_interrupted",
    "keeping",
    "keeping_best_on_interrupt",
    "next_slot",
    "resuming",
]

Folder = str | os.PathLike[str]
Handler = Callable[[int, FrameType | None], Any] | int | None

_EVERY_SECONDS = 60.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_wish: ContextVar[Event | None] = ContextVar("wish to stop", default=None)


@contextmanager
def keeping(slot: Slot | None) -> Iterator[Callable[[Progress, bool], None]]:
    """A context in which Ctrl-C and SIGTERM take effect only after a checkpoint is written.

    Args:
        slot: the checkpoint file; None writes nothing and leaves signals alone.

    Yields:
        A function to call after each evaluation, with whether training has ended. It raises
        `CheckpointError` if a signal came and the checkpoint cannot be written.
    """
    if slot is None:
        yield lambda progress, has_ended: None
        return
    with holding_back_signals() as held:

        def keep(progress: Progress, has_ended: bool) -> None:  # noqa: FBT001
            held.take(highest(held.number))  # all processes of a training stop together
            if held.number:
                slot.write(progress)
                held.let_go()
            else:
                slot.keep(progress, has_ended=has_ended)

        yield keep


# The files of the training runs of a fit, in order, and the seconds between writes.
_current: ContextVar[tuple[Iterator[Path], float] | None] = ContextVar("checkpoints", default=None)


@contextmanager
def checkpointing(folder: str | Path, *, every_seconds: float = _EVERY_SECONDS) -> Iterator[None]:
    """A context in which a fit writes checkpoints to a folder, and resumes from them.

    The same fit (data, settings, seed) with the same folder gives a result that is bit-identical to
    an uninterrupted fit, on the same machine and versions. Use one folder per fit.

    A checkpoint that cannot be written raises a `CheckpointWarning` and is tried again. Ctrl-C and
    SIGTERM take effect after the running steps and their checkpoint; a second signal acts at once.
    (In the main thread only. Inside `keeping_best_on_interrupt` they end the training after its
    checkpoint.)

    Args:
        folder: created if necessary, and removed if nothing was written to it.
        every_seconds: minimum interval between writes; the end of a run is always written.

    Raises:
        CheckpointError: the folder cannot be written.

    Examples:
        >>> import numpy as np, secant, tempfile
        >>> from secant.training import checkpointing
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2))
        >>> ratio = secant.ClassifierRatio(random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with checkpointing(folder):
        ...         first = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
        ...     with checkpointing(folder):  # the training has finished
        ...         again = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
        >>> bool((first == again).all())
        True
    """
    is_new = _made(Path(folder))
    files = (Path(folder) / f"training-{number}.checkpoint" for number in itertools.count())
    token = _current.set((files, every_seconds))
    try:
        yield
    finally:
        _current.reset(token)
        if is_new:
            with suppress(OSError):  # fails if the folder holds checkpoints
                Path(folder).rmdir()


def _made(folder: Path) -> bool:
    """Create a folder if necessary; whether it was created."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder)
    except OSError as error:
        raise CheckpointError(
            f"cannot keep checkpoints in {folder}: {cause_in_words(error)}. Name a folder that can "
            "be written."
        ) from error
    return is_new


def next_slot(fingerprint: Callable[[], dict[str, str]]) -> Slot | None:
    """The checkpoint file of the training run that starts now; None if there is none."""
    found = _current.get()
    if found is None:
        return None
    files, every_seconds = found
    return Slot(next(files), every_seconds, fingerprint())


@contextmanager
def resuming(folder: Folder | None, random_state: object) -> Iterator[None]:
    """`checkpointing(folder)` for the argument `resume` of `fit`; does nothing for None."""
    if folder is None:
        yield
        return
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"`resume` must be a folder, a text or a path, or None; got {folder!r}.")
    if random_state is None:
        raise ValueError(
            "`resume` needs a fit that another call can repeat; give `random_state` an integer, "
            "got None."
        )
    with checkpointing(Path(folder)):
        yield


def is_interrupted() -> bool:
    """Whether the running training was asked to stop."""
    wish = _wish.get()
    return wish is not None and wish.is_set()


@contextmanager
def keeping_best_on_interrupt() -> Iterator[Event]:
    """A context in which the first Ctrl-C ends training after its chunk and keeps the best state.

    SIGTERM has the same effect. A second signal raises `KeyboardInterrupt`. Outside this context
    the first signal does, because a cross-fit stopped in one fold should not continue with the
    next. The context has no effect outside the main thread, or for a signal that the process
    ignores, as under `nohup`.

    Yields:
        An event, set by the first signal.
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
    """Signals that were received and have not taken effect yet."""

    def __init__(self) -> None:
        self.number = 0  # the number of the received signal; 0 for none
        self._earlier: dict[int, Handler] = {}

    def take(self, number: int) -> None:
        """Treat a signal as received, where signals are delayed."""
        if number in self._earlier:
            self.number = number

    def let_go(self) -> None:
        """Deliver the delayed signal.

        Ctrl-C raises `KeyboardInterrupt`, SIGTERM ends the process; a user's handler is called, and
        if it returns, so does this.
        """
        number, self.number = self.number, 0
        if number:
            ours = signal.signal(number, self._earlier[number])
            signal.raise_signal(number)
            signal.signal(number, ours)

    def _came(self, number: int, frame: FrameType | None) -> None:
        del frame
        was_waiting, self.number = bool(self.number), number
        if was_waiting:  # a second signal is not delayed
            self.let_go()


@contextmanager
def holding_back_signals() -> Iterator[HeldBack]:
    """A context in which Ctrl-C and SIGTERM are delayed until the state is saved.

    A second signal acts at once. The context has no effect outside the main thread, or inside
    `keeping_best_on_interrupt`, which handles signals itself.
    """
    held = HeldBack()
    if current_thread() is not main_thread() or _wish.get() is not None:
        yield held
        return
    with _handled_by(held._came) as held._earlier:
        yield held
    held.let_go()  # the signal came after the last evaluation


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[dict[int, Handler]]:
    """A context with a signal handler; signals that the process ignores stay ignored.

    Yields:
        The previous handlers.
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
