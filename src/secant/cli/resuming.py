"""Fits that Ctrl-C may stop: what is kept of them, and how they go on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from secant.cli.command import ExitCode
from secant.cli.session import Session

__all__ = ["Resumable", "Resume"]

Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a fit that was stopped, from its checkpoint.")
]


class Resumable:
    """One fit of a command, with its checkpoints in a folder beside the model file.

    Args:
        output: the model file.
        resume: whether to go on from that folder.

    Raises:
        ValueError: there is something to go on from, or nothing, against what was said.
    """

    def __init__(self, output: Path, *, resume: bool) -> None:
        self._output = output
        self._folder = output.with_name(f"{output.name}.checkpoint")
        self._was_stopped = False
        if resume and not self._folder.is_dir():
            raise ValueError(
                f"there is no {self._folder} to go on from: run the command without --resume."
            )
        if not resume and self._folder.exists():
            raise ValueError(
                f"{self._folder} holds a fit that was stopped. Go on with it by the same command "
                "and --resume, or delete it to begin anew."
            )

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Within it, Ctrl-C ends the training and a checkpoint is kept."""
        from secant.training import checkpointing, keeping_best_on_interrupt

        try:
            with keeping_best_on_interrupt() as wish, checkpointing(self._folder):
                yield
        finally:
            with suppress(OSError):  # it fails where there is something to go on from
                self._folder.rmdir()
        self._was_stopped = wish.is_set()

    def finish(self, session: Session) -> None:
        """Once the model is written: away with the checkpoints, or say how to go on."""
        if not self._was_stopped:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        how = session.line or "the same command"
        more = how if "--resume" in how else f"{how} --resume"
        session.say(
            f"Stopped by you: {self._output} holds the best state so far and can be used. "
            f"Go on with:\n  {more}"
        )
        raise typer.Exit(ExitCode.INTERRUPTED)
