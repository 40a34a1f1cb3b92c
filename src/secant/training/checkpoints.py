"""Checkpoints: a training that was stopped goes on where it was, bit by bit as if it never had."""

from __future__ import annotations

import hashlib
import itertools
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from secant.atomic_files import cause_in_words, write_atomically
from secant.model_files.container import Contents, packed, read
from secant.model_files.errors import ModelFileError
from secant.training.history import Record, Status

__all__ = ["CheckpointError", "Checkpoints", "Progress", "Slot", "checkpointing", "next_slot"]

_FORMAT = 1
_EVERY_SECONDS = 60.0


class CheckpointError(ValueError):
    """A checkpoint that cannot be written, cannot be read, or is of another fit."""


class Progress(NamedTuple):
    """All that the rest of a training depends on.

    Attributes:
        arrays: the state of the optimiser and the best weights, as a tree of arrays.
        best: step, held-out loss, its standard error, and looks since then.
        history: a record a look.
        status: `RUNNING`, or how the training ended.
    """

    arrays: PyTree
    best: tuple[int, float, float, int]
    history: tuple[Record, ...]
    status: Status


class Slot:
    """The file of one training of a fit, by its number.

    A fit is deterministic up to its training, so only what training changes is kept, with a
    fingerprint of what it began from.

    Args:
        path: of the file.
        every_seconds: how often to write it at most, but for the last time.
        fingerprint: of all that the training depends on.
    """

    def __init__(self, path: Path, every_seconds: float, fingerprint: str) -> None:
        self._path, self._every = path, every_seconds
        self._written = time.perf_counter()
        self._fingerprint = fingerprint

    def restored(self, start: Progress) -> Progress:
        """What was written here; the start itself where nothing was.

        Raises:
            CheckpointError: the file is damaged, or of another fit.
        """
        if not self._path.exists():
            return start
        try:
            found = read(self._path)
            return _unpacked(found, start, self._fingerprint)
        except (ModelFileError, KeyError, IndexError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"cannot go on from {self._path}: {error} Begin anew without it."
            ) from None

    def keep(self, progress: Progress) -> None:
        """Write it, whole or not at all, if it is time to or the training has ended."""
        now = time.perf_counter()
        if progress.status is Status.RUNNING and now - self._written < self._every:
            return
        try:
            write_atomically(self._path, packed(_contents(progress, self._fingerprint)))
        except OSError as error:
            raise CheckpointError(
                f"cannot write the checkpoint {self._path}: {cause_in_words(error)}. Make room, "
                "then go on from the last one."
            ) from error
        self._written = now


class Checkpoints:
    """A folder with one file for each training of a fit, in their order."""

    def __init__(self, folder: Path, every_seconds: float) -> None:
        self._folder, self._every = folder, every_seconds
        self._numbers = itertools.count()

    def next_slot(self, causes: PyTree) -> Slot:
        """The file of the next training."""
        path = self._folder / f"training-{next(self._numbers)}.checkpoint"
        return Slot(path, self._every, _fingerprint(causes))


_current: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


@contextmanager
def checkpointing(
    folder: str | Path, *, every_seconds: float = _EVERY_SECONDS
) -> Iterator[Checkpoints]:
    """Within it, the trainings of one fit are written to a folder, and go on from what is there.

    The same fit (data, settings, seed) within the same folder ends with the model it would have had
    without a stop, bit by bit, on the same machine and versions. One fit a folder.

    Args:
        folder: made if it is not there.
        every_seconds: how often to write at most; the end of a training, and Ctrl-C within
            `keeping_best_on_interrupt`, are always written.

    Example:
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
    Path(folder).mkdir(parents=True, exist_ok=True)
    found = Checkpoints(Path(folder), every_seconds)
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


def next_slot(causes: PyTree) -> Slot | None:
    """Where the training that begins now is to be written; None if nowhere.

    Args:
        causes: all that the training depends on, by which it is known again.
    """
    checkpoints = _current.get()
    return None if checkpoints is None else checkpoints.next_slot(causes)


def _fingerprint(causes: PyTree) -> str:
    """A digest of arrays and names; addresses in memory, which names may hold, are left out."""
    leaves, structure = jax.tree.flatten(causes)
    found = hashlib.sha256(re.sub(r" at 0x[0-9a-f]+", "", str(structure)).encode())
    for leaf in leaves:
        is_array = isinstance(leaf, np.ndarray | jax.Array)
        found.update(np.asarray(leaf).tobytes() if is_array else str(leaf).encode())
    return found.hexdigest()


def _contents(progress: Progress, fingerprint: str) -> Contents:
    # What was asked to stop shall go on.
    status = Status.RUNNING if progress.status is Status.INTERRUPTED else progress.status
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(progress.arrays)]
    tensors = {f"leaf-{i}": np.array(leaf, order="C") for i, leaf in enumerate(leaves)}
    tensors["history"] = np.array(progress.history, dtype=np.float64)
    tensors["best"] = np.array(progress.best, dtype=np.float64)
    return Contents(
        {"checkpoint": _FORMAT, "status": status.name, "fingerprint": fingerprint}, tensors
    )


def _unpacked(found: Contents, start: Progress, fingerprint: str) -> Progress:
    if found.header.get("checkpoint") != _FORMAT:
        raise ValueError(f"it is no checkpoint of format {_FORMAT}.")
    history = tuple(Record(int(r[0]), *map(float, r[1:])) for r in found.tensors["history"])
    if found.header["fingerprint"] != fingerprint:
        raise ValueError("it is of another fit: the data, the seed or the settings differ.")
    leaves, structure = jax.tree.flatten(start.arrays)
    kept = [_like(leaf, found.tensors[f"leaf-{i}"]) for i, leaf in enumerate(leaves)]
    step, value, error, since = found.tensors["best"].tolist()
    return Progress(
        jax.tree.unflatten(structure, kept),
        (int(step), value, error, int(since)),
        history,
        Status[found.header["status"]],
    )


def _like(leaf: Any, kept: np.ndarray) -> jax.Array:  # noqa: ANN401
    if kept.shape != leaf.shape or kept.dtype != leaf.dtype:
        raise ValueError("it is of another fit: the shapes of its weights differ.")
    return jnp.asarray(kept)
