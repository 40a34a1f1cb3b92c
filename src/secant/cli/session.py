"""The session of a command: results to standard output, messages to standard error."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from secant._host.atomic_files import cause_in_words, check_writable, is_special
from secant._host.escaping import one_line, printable

__all__ = ["JSON", "Session", "check_place"]

JSON = None | bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"]

_WIDTH_OF_A_PIPE = 100  # without a terminal


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
            print(_table_text(header, rows), flush=True)

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
            print(_json_text(envelope), flush=True)

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


def check_place(path: Path) -> None:
    """Check that a file can be written, before the work starts."""
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is not a folder, so {path} cannot be written; make it.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if is_special(path):
        raise ValueError(f"{path} is a device or a pipe; name a file that may be replaced.")
    try:
        check_writable(Path(os.path.realpath(path)).parent)
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written: {cause_in_words(error)}. Name a file elsewhere."
        ) from error


def _without_nan(value: JSON) -> JSON:
    """The value with infinities and NaN as null, which JSON lacks."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(part) for part in value]
    return value


def _json_text(value: JSON) -> str:
    """One line of JSON; control characters and invalid UTF-8 are escaped."""
    text = json.dumps(_without_nan(value), ensure_ascii=False, allow_nan=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned table that fits the terminal; the first column to the left, numbers right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(header):
        numeric = number > 0 and all(_is_number(row[number]) for row in rows)
        table.add_column(Text(one_line(name)), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_PIPE)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _is_number(cell: str) -> bool:
    return cell == "" or cell.lstrip("+-−")[:1].isdigit()
