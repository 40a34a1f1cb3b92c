"""What all commands share: where to write, how to seed, what went wrong on the way."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from secant.cli.output import JSON, json_text, printable, table_text

__all__ = ["Session"]


@dataclass(frozen=True)
class Session:
    """One run of one command.

    Attributes:
        command: its name, as typed: "density fit".
        seed: of everything random.
        as_json: whether the result is one line of JSON rather than text.
        quiet: whether messages and progress bars are left out; results, warnings and errors stay.
        strict: whether a statistical warning makes the command fail.
        training: fields of `secant.Training` that differ from their defaults.
        warned: the statistical warnings so far, as (kind, message).
    """

    command: str
    seed: int = 0
    as_json: bool = False
    quiet: bool = False
    strict: bool = False
    training: Mapping[str, object] = field(default_factory=dict)
    warned: list[tuple[str, str]] = field(default_factory=list)

    @property
    def line(self) -> str | None:
        """The line of the shell that this is, if it came from one."""
        if Path(sys.argv[0]).stem != "secant":
            return None
        return shlex.join(["secant", *sys.argv[1:]])

    def say(self, text: str) -> None:
        """A message on the way, to standard error."""
        if not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)

    def warn(self, kind: str, message: str, *, told: bool = False) -> None:
        """A statistical warning: kept for the result, fatal under --strict, and shown once.

        Args:
            kind: its name.
            message: with a number and a remedy.
            told: whether the result says so itself, and it need not be shown.
        """
        if (kind, message) not in self.warned:
            self.warned.append((kind, message))
            if not told:
                print(printable(f"{kind}: {message}"), file=sys.stderr, flush=True)

    def show(self, text: str) -> None:
        """A part of the result, to standard output, unless it is to be JSON."""
        if not self.as_json:
            print(printable(text), flush=True)

    def show_table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A part of the result, as a table."""
        if not self.as_json:
            print(table_text(header, rows), flush=True)

    def finish(self, result: Mapping[str, JSON], *, schema: str | None = None) -> None:
        """The result as a whole, as one line of JSON if it is to be JSON.

        Args:
            result: what the guide to the command line documents.
            schema: the name it is documented by; None is the command's.
        """
        if self.as_json:
            from secant import __version__

            found = [{"kind": kind, "message": message} for kind, message in self.warned]
            envelope: dict[str, JSON] = {
                "schema": f"secant/{schema or self.command.replace(' ', '-')}/1",
                "version": __version__,
                "seed": self.seed,
                "warnings": found,
                "result": result,
            }
            print(json_text(envelope), flush=True)

    @contextmanager
    def watching_warnings(self) -> Iterator[None]:
        """Statistical warnings go through `warn`; the rest are developers' and not shown."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)

            def showwarning(
                message: Warning | str,
                category: type[Warning],
                filename: str,
                lineno: int,
                file: TextIO | None = None,
                line: str | None = None,
            ) -> None:
                del filename, lineno, file, line
                if category.__module__.partition(".")[0] == "secant":
                    self.warn(category.__name__, str(message))

            warnings.showwarning = showwarning
            yield
