"""Errors of tables, and names in their messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_LONGEST = 60  # maximum characters of a name or value in a message
_MOST = 6  # maximum names in a message


class TableError(ValueError):
    """A table or its file cannot be used; the message has a remedy."""


def shown(name: object) -> str:
    """A name or value in quotes, shortened, with control characters escaped."""
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
    """The text "; did you mean 'x'?" for a similar name or prefix, or nothing."""
    by_small_letters = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), by_small_letters, n=1)
    close = close or [n for n in map(str.lower, names) if name and n.startswith(name.lower())]
    return f"; did you mean {shown(by_small_letters[close[0]])}?" if close else ""
