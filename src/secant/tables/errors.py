"""The error for a user's mistake with a table, and names as its messages show them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["TableError", "counted", "nearest", "quoted", "shown"]

_LONGEST = 60  # characters of a name or value in a message
_MOST = 6  # names in a message


class TableError(ValueError):
    """A table or one of its files cannot be used as asked; the message says what to do."""


def shown(name: object) -> str:
    """A name or value in quotes, cut where it is long; control characters are escaped."""
    text = str(name)
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def counted(n: int, noun: str) -> str:
    """A number of things: "1 row", "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def quoted(names: Iterable[object]) -> str:
    """Names in quotes, the first few of them."""
    all_names = list(names)
    more = f" and {len(all_names) - _MOST} more" if len(all_names) > _MOST else ""
    return ", ".join(shown(name) for name in all_names[:_MOST]) + more


def nearest(name: str, names: Sequence[str]) -> str:
    """The words "; did you mean 'x'?" where a name comes close or begins so, or nothing."""
    by_small_letters = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), by_small_letters, n=1)
    close = close or [n for n in map(str.lower, names) if name and n.startswith(name.lower())]
    return f"; did you mean {shown(by_small_letters[close[0]])}?" if close else ""
