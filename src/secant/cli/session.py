"""The session of a command: output, seed and warnings."""

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


@dataclass(frozen=True)
class Session:
    """One run of one command.

    Attributes:
        command: its name, as typed: "density fit".
        seed: random seed.
        as_json: whether the result is one line of JSON rather than text.
        quiet: whether to suppress messages and progress bars.
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
        """The shell command of this run, if any."""
        if Path(sys.argv[0]).stem != "secant":
            return None
        return shlex.join(["secant", *sys.argv[1:]])

    def say(self, text: str) -> None:
        """Print a message to standard error."""
        if not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)

    def warn(self, kind: str, message: str, *, shown: bool = False) -> None:
        """Record a statistical warning; it is shown once, and fatal under --strict.

        Args:
            kind: its name.
            message: with a number and a remedy.
            shown: whether the result already shows it.
        """
        if (kind, message) not in self.warned:
            self.warned.append((kind, message))
            if not shown:
                print(printable(f"{kind}: {message}"), file=sys.stderr, flush=True)

    def show(self, text: str) -> None:
        """Print a part of the result, unless the output is JSON."""
        if not self.as_json:
            print(printable(text), flush=True)

    def show_table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a part of the result as a table."""
        if not self.as_json:
            print(table_text(header, rows), flush=True)

    def finish(self, result: Mapping[str, JSON], *, schema: str | None = None) -> None:
        """Finish with the result, printed as one line of JSON if requested.

        Args:
            result: as documented in the guide to the command line.
            schema: its documented name; None is the command's.
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
        """Route statistical warnings to `warn`, and suppress all others."""
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
