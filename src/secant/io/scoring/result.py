"""What came of scoring: counts and a summary of the scores, of one table or of many."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

__all__ = ["Scored"]


@dataclass(frozen=True)
class Scored:
    """What came of scoring a table.

    Attributes:
        name: of the column with the scores.
        rows: of the table.
        scored: rows that have a score.
        mean: of the scores.
        least: of the scores.
        most: of the scores.
    """

    name: str
    rows: int = 0
    scored: int = 0
    mean: float = math.nan
    least: float = math.inf
    most: float = -math.inf

    def with_scores(self, scores: Float[np.ndarray, " n"]) -> Scored:
        """The same with more rows."""
        some = scores[~np.isnan(scores)]
        mean = float(some.mean()) if some.size else math.nan
        ends = (float(some.min(initial=math.inf)), float(some.max(initial=-math.inf)))
        return self.joined(Scored(self.name, scores.size, some.size, mean, *ends))

    def joined(self, other: Scored) -> Scored:
        """Of this table's rows and another's."""
        scored = self.scored + other.scored
        sums = [part.mean * part.scored for part in (self, other) if part.scored]
        return Scored(
            self.name,
            self.rows + other.rows,
            scored,
            sum(sums) / scored if scored else math.nan,
            min(self.least, other.least),
            max(self.most, other.most),
        )
