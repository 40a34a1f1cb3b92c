"""One estimate of mutual information as a flat row."""

from __future__ import annotations

from dataclasses import dataclass

from secant_bench.rows import Run, aligned

__all__ = ["InformationRow"]


@dataclass(frozen=True)
class InformationRow(Run):
    """The result of one method on one data set, with the truth, in nats."""

    n_rows: int
    truth: float
    estimate: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    correction: float | None = None
    evaluations: int | None = None  # network evaluations per log ratio
    seconds: float | None = None

    @property
    def numbers(self) -> str:
        """The truth, the estimate with its error, and the p-value."""
        return (
            f"truth {aligned(self.truth)} estimate {aligned(self.estimate)}"
            f" ± {aligned(self.standard_error)} p {aligned(self.p_value)} {aligned(self.seconds)} s"
        )
