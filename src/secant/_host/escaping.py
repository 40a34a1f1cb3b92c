"""Escape control characters in untrusted text: column names, cells and paths."""

from __future__ import annotations

__all__ = ["one_line", "printable"]


def printable(text: str, kept: str = "\n\t") -> str:
    """The text with every character that a terminal would obey written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def one_line(name: str) -> str:
    """A name that cannot pass for another line of the output, either."""
    return printable(name, kept="")
