"""Checkpoint files: the state of one training run, and digests that identify it."""

from __future__ import annotations

import hashlib
import platform
import re
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from secant._host.atomic_files import cause_in_words, write_atomically
from secant._host.provenance import cores, versions
from secant.exceptions import CheckpointWarning
from secant.model_files.container import Contents, packed, read
from secant.model_files.errors import ModelFileError
from secant.training.devices import current_devices, gathered
from secant.training.settings import Record

__all__ = ["Causes", "CheckpointError", "Progress", "Slot", "common_fingerprint", "digests"]

_FORMAT = 4
_ROWS_OF_A_FILE = 1000


class CheckpointError(ValueError):
    """A checkpoint cannot be written or read, or belongs to another fit."""


class Progress(NamedTuple):
    """The state of a training run.

    Attributes:
        arrays: the state of the optimiser and the best weights, as a tree of arrays.
        best: the step of the best weights, and the number of evaluations since then.
        history: one record per evaluation.
    """

    arrays: PyTree
    best: tuple[int, int]
    history: tuple[Record, ...]

    @property
    def step(self) -> int:
        """Step of the last evaluation."""
        return self.history[-1].step


class Slot:
    """The checkpoint file of one training run of a fit.

    A fit is deterministic up to its training, so only the state of the training is stored, with
    digests of its inputs.

    Args:
        path: of the file.
        every_seconds: minimum interval between writes, except for the last.
        fingerprint: digests of the inputs of the training.
    """

    def __init__(self, path: Path, every_seconds: float, fingerprint: dict[str, str]) -> None:
        self._path, self._every = path, every_seconds
        self._tried = time.perf_counter()
        self._fingerprint = fingerprint
        self._step_on_disk: int | None = None

    def restored(self, start: Progress) -> Progress:
        """The stored state, or the initial state if there is no file.

        Raises:
            CheckpointError: the file is damaged, or of another fit, or not visible to all
                processes of the training.
        """
        found = self._found(start)
        steps = [int(step) for step in gathered(np.array(found.step))]
        if len(set(steps)) > 1:
            raise CheckpointError(
                f"all processes must read the same {self._path}; theirs are of "
                f"steps {steps}. Use a folder that all of them share."
            )
        return found

    def _found(self, start: Progress) -> Progress:
        if not self._path.exists():
            return start
        try:
            found = read(self._path)
            changes = _changes(found.header)
            progress = _unpacked(found, start, self._fingerprint)
        except (ModelFileError, KeyError, IndexError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"cannot resume from {self._path}: {error} Delete that file to train again, or use "
                "another folder."
            ) from None
        if changes:
            warnings.warn(
                f"{self._path} {changes}: the fit resumes, but its model may differ in the last "
                "digits from an uninterrupted fit. Use those versions for identical results.",
                CheckpointWarning,
                stacklevel=5,
            )
        self._step_on_disk = progress.step
        return progress

    def write(self, progress: Progress) -> None:
        """Write the file atomically.

        Raises:
            CheckpointError: it cannot be written; an earlier file is unchanged.
        """
        self._tried = time.perf_counter()
        if current_devices().process > 0:  # only the first process writes
            return
        try:
            self._path.parent.mkdir(exist_ok=True)  # the folder may have been deleted
            write_atomically(self._path, packed(_contents(progress, self._fingerprint)))
        except OSError as error:
            raise CheckpointError(
                f"cannot write {self._path} at step {progress.step}: {cause_in_words(error)}. "
                f"{self._left()}"
            ) from error
        self._step_on_disk = progress.step

    def keep(self, progress: Progress, *, has_ended: bool) -> None:
        """Write the file if it is due or the training has ended; if that fails, only warn.

        A full disk should not end the training, whose state is still in memory.
        """
        if not has_ended and time.perf_counter() - self._tried < self._every:
            return
        try:
            self.write(progress)
        except CheckpointError as error:
            then = (
                "Training has ended and its result is returned: save it elsewhere."
                if has_ended
                else f"Training continues and tries again in {self._every:g} s."
            )
            warnings.warn(f"{error} {then}", CheckpointWarning, stacklevel=4)

    def _left(self) -> str:
        if self._step_on_disk is None:
            return "There is no earlier checkpoint."
        step = self._step_on_disk
        return f"The earlier one, of step {step}, is kept, and the fit can resume from it."


def _contents(progress: Progress, fingerprint: dict[str, str]) -> Contents:
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(progress.arrays)]
    tensors = {f"leaf-{i}": np.array(leaf, order="C") for i, leaf in enumerate(leaves)}
    tensors["history"] = np.array(progress.history, dtype=np.float64)
    tensors["best"] = np.array(progress.best, dtype=np.int64)
    header = {"checkpoint": _FORMAT, "fingerprint": fingerprint, "surroundings": _surroundings()}
    return Contents(header, tensors)


def _unpacked(found: Contents, start: Progress, fingerprint: dict[str, str]) -> Progress:
    if found.header.get("checkpoint") != _FORMAT:
        raise ValueError(f"it is not a checkpoint of format {_FORMAT}, of this version of secant.")
    difference = _first_difference(found.header["fingerprint"], fingerprint)
    if difference is not None:
        changes = _changes(found.header)  # other versions may name the same settings differently
        also = f" It {changes}." if changes else ""
        raise ValueError(f"it is of another fit, with {difference}.{also} A folder is for one fit.")
    leaves, structure = jax.tree.flatten(start.arrays)
    kept = [_like(leaf, found.tensors[f"leaf-{i}"]) for i, leaf in enumerate(leaves)]
    step, since = found.tensors["best"].tolist()
    return Progress(
        jax.tree.unflatten(structure, kept),
        (step, since),
        tuple(Record(int(r[0]), *map(float, r[1:])) for r in found.tensors["history"]),
    )


def _like(leaf: Any, kept: np.ndarray) -> jax.Array:  # noqa: ANN401
    if kept.shape != leaf.shape or kept.dtype != leaf.dtype:
        raise ValueError("it is of another fit, with weights of other shapes.")
    return jax.device_put(kept)


def _surroundings() -> dict[str, str]:
    """Versions and hardware, on which rounding may depend."""
    place = {"processor": platform.machine(), "cores": str(len(cores()))}
    return {**versions(), **place, "device": str(current_devices())}


def _changes(header: dict[str, Any]) -> str:
    """The versions and hardware that have changed since the file was written."""
    then, now = header["surroundings"], _surroundings()
    changed = [name for name in now if then.get(name) != now[name]]
    listed = ", ".join(f"{name} {then.get(name)} (now {now[name]})" for name in changed)
    return f"was written with {listed}" if listed else ""


class Causes(NamedTuple):
    """Digests of the inputs of a training run, compared in this order."""

    seed: PyTree
    settings: PyTree
    data: PyTree
    model: PyTree


_IN_WORDS = {
    "seed": "another seed: `random_state` differs",
    "settings": "other settings",
    "data": "other data",
    "model": "another model to begin from",
}


def digests(causes: Causes) -> dict[str, str]:
    """A digest of each part."""
    return {name: _digest(part) for name, part in causes._asdict().items()}


def _first_difference(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """A description of the first difference between two sets of digests; None if they are equal."""
    return next((words for name, words in _IN_WORDS.items() if one[name] != other[name]), None)


def _digest(part: PyTree) -> str:
    """The digest of arrays and names, without memory addresses in the names."""
    leaves, structure = jax.tree.flatten(part)
    found = hashlib.sha256(_named(structure))
    for leaf in leaves:
        if isinstance(leaf, np.ndarray | jax.Array):
            rows = _some_rows(leaf) if isinstance(leaf, np.memmap) else np.asarray(leaf)
            found.update(f"{leaf.dtype}{leaf.shape}".encode())
            found.update(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
        else:
            found.update(_named(leaf))
    return found.hexdigest()


def _some_rows(rows: np.memmap) -> np.ndarray:
    """Evenly spaced rows of an array on disk, because reading all may take longer than the fit."""
    return np.asarray(rows[:: max(rows.shape[0] // _ROWS_OF_A_FILE, 1)])


def _named(thing: Any) -> bytes:  # noqa: ANN401
    return re.sub(r" at 0x[0-9a-f]+", "", str(thing)).encode()


def common_fingerprint(own: dict[str, str]) -> dict[str, str]:
    """Digests of a training, checked to be equal in all processes.

    Raises:
        ValueError: the processes have different inputs.
    """
    devices = current_devices()
    if devices.processes == 1:
        return own
    raw = np.frombuffer(bytes.fromhex("".join(own.values())), dtype=np.uint8)
    every = [
        dict(zip(own, [part.tobytes().hex() for part in one.reshape(len(own), -1)], strict=True))
        for one in gathered(raw)
    ]
    if devices.own_rows:
        joined = hashlib.sha256("".join(one["data"] for one in every).encode()).hexdigest()
        every = [{**one, "data": joined} for one in every]
    for number, one in enumerate(every):
        difference = _first_difference(one, every[0])
        if difference is not None:
            raise ValueError(
                "processes that train together must make the same fit; process "
                f"{number} came with {difference}. Give all the same rows, settings and "
                "`random_state`; for rows of their own, data_parallel(own_rows=True)."
            )
    return every[0]
