"""Errors of model files."""

from __future__ import annotations

_LONGEST = 60


class ModelFileError(ValueError):
    """A model file cannot be written, or is damaged, of another kind, or of a newer version."""


def escaped(text: object) -> str:
    """Text from a file, escaped and shortened for an error message."""
    words = ascii(text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
