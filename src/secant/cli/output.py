"""Output of commands: results to standard output, messages to standard error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from secant._host.atomic_files import cause_in_words, check_writable, is_special
from secant._host.escaping import one_line, printable

__all__ = ["JSON", "check_place", "json_text", "printable", "table_text"]

JSON = None | bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"]

_WIDTH_OF_A_PIPE = 100  # without a terminal


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


def json_text(value: JSON) -> str:
    """One line of JSON; control characters and invalid UTF-8 are escaped."""
    text = json.dumps(_without_nan(value), ensure_ascii=False, allow_nan=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
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
