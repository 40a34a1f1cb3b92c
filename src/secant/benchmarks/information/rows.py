"""One estimate of mutual information as a flat row."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["InformationRow"]


@dataclass(frozen=True)
class InformationRow:
    """What one method says of one data set, beside the truth; in nats."""

    suite: str
    task: str
    method: str
    seed: int
    n_rows: int
    truth: float
    estimate: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    correction: float | None = None
    evaluations: int | None = None  # network evaluations behind one row's log ratio
    seconds: float | None = None
    status: str = ""
    traceback: str = ""
    machine: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What makes a run the same run."""
        return self.task, self.method, self.seed
