"""What happened during training, and how it ended."""

from __future__ import annotations

import enum
from typing import NamedTuple

__all__ = ["Record", "Status"]


class Status(enum.Enum):
    """How a training run ended; the value is the sentence a user reads."""

    RUNNING = "Still training."
    FINISHED = "All steps done."
    EARLY_STOPPED = "Stopped early: the held-out loss no longer fell."
    TIME_UP = (
        "Stopped by the wall-clock budget before the last step; "
        "raise Training.max_seconds for a better fit."
    )
    INTERRUPTED = "Stopped by you; the best state so far is kept. More steps may fit better."
    DIVERGED = (
        "The loss became infinite or NaN; the best earlier state is kept. "
        "Look for extreme outliers in the data, or try a learning rate a hundred times smaller."
    )

    @property
    def is_good(self) -> bool:
        """Whether the result is as intended."""
        return self in (Status.FINISHED, Status.EARLY_STOPPED)


class Record(NamedTuple):
    """One look at the training."""

    step: int
    seconds: float
    loss: float
    held_out: float
