"""Errors of model files."""

from __future__ import annotations

_LONGEST = 60


class ModelFileError(ValueError):
    """A model file that cannot be written, or that is damaged, foreign or too new to be read."""


def shown(text: object) -> str:
    """Text from a file, escaped and shortened for an error message."""
    words = ascii(text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
