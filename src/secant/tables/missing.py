"""Treatment of missing values."""

from __future__ import annotations

from enum import Enum


class Missing(Enum):
    """Treatment of missing values: nulls and NaN."""

    REFUSE = "refuse"  # raise an error with their counts
    DROP = "drop"  # drop rows with a missing value
    IMPUTE = "impute"  # the median of numbers; a separate category for text
