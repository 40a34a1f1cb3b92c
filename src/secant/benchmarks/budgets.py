"""How much computing a suite may take."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

__all__ = ["Budget"]

_T = TypeVar("_T")


class Budget(StrEnum):
    """`SMALL` suits an hour on two cores; `PAPER` is what the papers spent."""

    SMALL = "small"
    PAPER = "paper"

    def pick(self, small: _T, paper: _T) -> _T:
        """One of two settings."""
        return small if self is Budget.SMALL else paper
