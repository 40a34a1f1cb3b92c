"""The error for a model, or a part of one, that cannot be exported."""

from __future__ import annotations

__all__ = ["ExportError"]


class ExportError(ValueError):
    """A model cannot be exported as asked; the message names the part and says what to do."""
