"""Which rows of a sample may be drawn, in memory that does not grow with their number."""

from __future__ import annotations

import equinox as eqx
import numpy as np
from jaxtyping import Int

__all__ = ["AllBut", "RowNumbers"]

Places = Int[np.ndarray, "*shape"]


class AllBut(eqx.Module):
    """The numbers 0 … n − 1 without a few: an increasing sequence, of which only those are kept.

    Attributes:
        n: how many there would be.
        without: the numbers left out, increasing.
    """

    n: int = eqx.field(static=True)
    without: Int[np.ndarray, " k"]

    @property
    def size(self) -> int:
        """How many there are."""
        return self.n - self.without.size

    def __getitem__(self, places: Places) -> Places:
        """The numbers at places 0 … size − 1 of the sequence."""
        before = self.without - np.arange(self.without.size)  # places ahead of each gap
        return places + np.searchsorted(before, places, side="right")


RowNumbers = AllBut | Int[np.ndarray, " n"]  # an array where weights leave no shorter way
