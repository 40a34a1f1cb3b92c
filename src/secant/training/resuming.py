"""The `resume` of every `fit`: one door to checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from secant.training.checkpoints import checkpointing

__all__ = ["Folder", "resuming"]

Folder = str | os.PathLike[str]


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
