"""Computing budgets of suites."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

__all__ = ["Budget"]

_T = TypeVar("_T")


class Budget(StrEnum):
    """`SMALL` is a smoke test, `STANDARD` allows minutes per fit, `PAPER` is the papers' budget.

    Methods converge at `STANDARD`, which the page of results uses.
    """

    SMALL = "small"
    STANDARD = "standard"
    PAPER = "paper"

    def pick(self, small: _T, standard: _T, paper: _T) -> _T:
        """Select one of three settings."""
        return {Budget.SMALL: small, Budget.STANDARD: standard, Budget.PAPER: paper}[self]
