"""What to do about missing values."""

from __future__ import annotations

from enum import Enum

__all__ = ["Missing"]


class Missing(Enum):
    """What to do about missing values: nulls and NaN."""

    REFUSE = "refuse"  # say how many there are, and where
    DROP = "drop"  # leave out rows that lack one
    IMPUTE = "impute"  # the median of a quantity; a category of their own among names
