"""Fits that can be stopped by Ctrl-C and resumed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import ExitCode
from secant.cli.session import Session

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from secant.model_files.strict_json import JSON


Resume = Annotated[bool, typer.Option("--resume", help="Resume a stopped fit from its checkpoint.")]


class Resumable:
    """One fit of a command, with its checkpoints in a folder beside the model file.

    Args:
        output: the model file.
        resume: whether to resume from that folder.

    Raises:
        ValueError: there is a checkpoint without `resume`, or none with it.
    """

    def __init__(self, output: Path, *, resume: bool) -> None:
        self._output = output
        self._folder = output.with_name(f"{output.name}.checkpoint")
        self._was_stopped = False
        if resume and not self._has_checkpoint:
            raise ValueError(
                f"there is no {self._folder} to resume from: run the command without --resume."
            )
        if not resume and self._has_checkpoint:
            raise ValueError(
                f"{self._folder} holds a stopped fit. Resume it by the same command with "
                "--resume, or delete it to start again."
            )

    @property
    def _has_checkpoint(self) -> bool:
        return self._folder.is_dir() and any(self._folder.iterdir())

    @contextmanager
    def kept(self) -> Iterator[Path]:
        """A context in which Ctrl-C ends training and the best state is kept.

        Yields:
            The argument `resume` of the fit.
        """
        from secant.training import keeping_best_on_interrupt

        with keeping_best_on_interrupt() as wish:
            yield self._folder
        self._was_stopped = wish.is_set()

    def save(self, estimator: BaseEstimator, metadata: Mapping[str, JSON]) -> None:
        """Write the model; if that fails, say where the checkpoint is."""
        from secant.model_files import ModelFileError, save

        try:
            save(estimator, self._output, metadata=metadata)
        except ModelFileError as error:
            if not self._has_checkpoint:
                raise
            raise ModelFileError(
                f"{error} The training is kept in {self._folder}: see to that, then run the same "
                "command with --resume."
            ) from error

    def finish(self, session: Session) -> None:
        """Delete the checkpoints of a finished fit, or say how to resume."""
        if not self._was_stopped:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        usable = f"Stopped by you: {self._output} holds the best state so far and can be used."
        if not self._has_checkpoint:
            session.say(f"{usable} There is no checkpoint to resume from.")
            raise typer.Exit(ExitCode.INTERRUPTED)
        how = session.line or "the same command"
        more = how if "--resume" in how else f"{how} --resume"
        session.say(f"{usable} Resume with:\n  {more}")
        raise typer.Exit(ExitCode.INTERRUPTED)
