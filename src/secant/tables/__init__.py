"""Tables: read, write and encode them; import from the modules.

Nothing is re-exported here, so that the command line starts without the table library.
"""

from enum import Enum


class Missing(Enum):
    """Treatment of missing values: nulls and NaN."""

    REFUSE = "refuse"  # raise an error with their counts
    DROP = "drop"  # drop rows with a missing value
    IMPUTE = "impute"  # the median of numbers; a separate category for text
