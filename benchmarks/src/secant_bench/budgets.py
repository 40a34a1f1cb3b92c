"""How much computing a suite may take."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

__all__ = ["Budget"]

_T = TypeVar("_T")


class Budget(StrEnum):
    """`SMALL` shows that a suite runs, `STANDARD` has minutes a fit, `PAPER` what the papers spent.

    Methods have learned at `STANDARD`: the page of results is made of it.
    """

    SMALL = "small"
    STANDARD = "standard"
    PAPER = "paper"

    def pick(self, small: _T, standard: _T, paper: _T) -> _T:
        """One of three settings."""
        return {Budget.SMALL: small, Budget.STANDARD: standard, Budget.PAPER: paper}[self]
