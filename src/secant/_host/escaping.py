"""Escape control characters in untrusted text: column names, cells and paths."""

from __future__ import annotations


def printable(text: str, kept: str = "\n\t") -> str:
    """Text with control characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def one_line(name: str) -> str:
    """Text with control characters and line breaks escaped."""
    return printable(name, kept="")
