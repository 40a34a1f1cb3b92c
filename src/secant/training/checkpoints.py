"""Checkpoints: a training that was stopped goes on where it was, bit by bit as if it never had."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from secant.atomic_files import cause_in_words, check_writable
from secant.training.checkpoint_files import CheckpointError, Progress, Slot
from secant.training.interruption import holding_back_signals
from secant.training.processes import highest

__all__ = ["Checkpoints", "checkpointing", "keeping", "next_slot"]

_EVERY_SECONDS = 60.0


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
