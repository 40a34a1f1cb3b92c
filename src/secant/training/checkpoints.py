"""Checkpoints and interruption: a stopped run resumes where it was, with the same bits."""

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
    "Checkpoints",
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
    """Within it, Ctrl-C and SIGTERM take effect only once a checkpoint is written.

    Args:
        slot: where to; None keeps nothing and leaves signals as they are.

    Yields:
        What to call after each look at the training, with whether it has ended. It raises
        `CheckpointError` if a signal came and the checkpoint cannot be written.
    """
    if slot is None:
        yield lambda progress, has_ended: None
        return
    with holding_back_signals() as held:

        def keep(progress: Progress, has_ended: bool) -> None:  # noqa: FBT001
            held.take(highest(held.number))  # processes that train together stop together
            if held.number:
                slot.write(progress)
                held.let_go()
            else:
                slot.keep(progress, has_ended=has_ended)

        yield keep


class Checkpoints:
    """A folder with one file for each training of a fit, in their order."""

    def __init__(self, folder: Path, every_seconds: float) -> None:
        self._folder, self._every = folder, every_seconds
        self._numbers = itertools.count()

    def next_slot(self, fingerprint: dict[str, str]) -> Slot:
        """The file of the next training."""
        path = self._folder / f"training-{next(self._numbers)}.checkpoint"
        return Slot(path, self._every, fingerprint)


_current: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


@contextmanager
def checkpointing(
    folder: str | Path, *, every_seconds: float = _EVERY_SECONDS
) -> Iterator[Checkpoints]:
    """Within it, the trainings of one fit are written to a folder, and go on from what is there.

    The same fit (data, settings, seed) within the same folder ends with the model it would have had
    without a stop, bit by bit, on the same machine and versions. One fit a folder.

    A checkpoint that cannot be written is a `CheckpointWarning` and is tried again. Ctrl-C and
    SIGTERM wait for the steps under way and their checkpoint, and then take effect; a second one
    does at once. (In the main thread only. Within `keeping_best_on_interrupt` they end the training
    after its checkpoint.)

    Args:
        folder: made if it is not there, and removed if nothing was written to it.
        every_seconds: how often to write at most; the end of a training is always written.

    Raises:
        CheckpointError: the folder cannot be written.

    Examples:
        >>> import numpy as np, secant, tempfile
        >>> from secant.training import checkpointing
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2))
        >>> ratio = secant.ClassifierRatio(training=secant.Training(steps=20), random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with checkpointing(folder):
        ...         first = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
        ...     with checkpointing(folder):  # finds its training finished
        ...         again = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
        >>> bool((first == again).all())
        True
    """
    is_new = _made(Path(folder))
    found = Checkpoints(Path(folder), every_seconds)
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)
        if is_new:
            with suppress(OSError):  # it fails where there is something to go on from
                Path(folder).rmdir()


def _made(folder: Path) -> bool:
    """Make a folder, unless it is there; whether it was made."""
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
    """Where the training that begins now is to be written; None if nowhere.

    Args:
        fingerprint: digests of all that the training depends on, by which it is known again.
    """
    checkpoints = _current.get()
    return None if checkpoints is None else checkpoints.next_slot(fingerprint())


@contextmanager
def resuming(folder: Folder | None, random_state: object) -> Iterator[None]:
    """Within it the trainings of one fit are written to a folder and go on from it; not for None.

    Args:
        folder: what `fit` was given as `resume`.
        random_state: of the estimator; None would make every call another fit.

    Raises:
        TypeError: this is no folder.
        ValueError: no other call could be the same fit.
        CheckpointError: the folder cannot be written, or holds another fit.
    """
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
    """Whether the training that runs here was asked to stop."""
    wish = _wish.get()
    return wish is not None and wish.is_set()


@contextmanager
def keeping_best_on_interrupt() -> Iterator[Event]:
    """Within it, the first Ctrl-C ends a training after its chunk; the best state is kept.

    So does SIGTERM, by which systems end a job. A second of either raises `KeyboardInterrupt` as
    ever. Without it the first does: a cross-fit stopped in one fold should not go on with the next.
    In the main thread only, as all signals; elsewhere it changes nothing. Nor does it for a signal
    that the process ignores, as under `nohup`.

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
    """Within it, signals go to a handler; one that the process ignores stays ignored.

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
