"""The verdict: whether the ratio is usable for importance weights, and if not, why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from secant.diagnostics.ratio import RatioDiagnostics


_BAD_SLOPE = 0.2  # tolerated deviation of the slope from 1, beyond its error
_STANDARD_ERRORS = 3.0
_CLOSER = (
    "The log ratio and its mean over x_1 can be used. For weights, collect x_0 rows nearer to x_1, "
    "or compare fewer features."
)


class Trouble(NamedTuple):
    """A problem of the ratio, with its number, and a remedy."""

    reason: str
    advice: str


@dataclass(frozen=True)
class Verdict:
    """Whether the ratio is usable for importance weights; truthy if it is.

    Attributes:
        troubles: problems, the most serious first.
        support: numbers in favour.
    """

    troubles: tuple[Trouble, ...]
    support: str

    def __bool__(self) -> bool:
        """Whether there is no problem."""
        return not self.troubles

    @property
    def advice(self) -> str | None:
        """The remedy for the most serious problem; None if there is none."""
        return self.troubles[0].advice if self.troubles else None

    def __str__(self) -> str:
        """One line, and a line of advice if there is a problem."""
        if not self.troubles:
            return f"usable for importance weights: yes ({self.support})"
        reasons = "; ".join(trouble.reason for trouble in self.troubles)
        return f"usable for importance weights: no, because {reasons}\nadvice: {self.advice}"


def verdict(found: RatioDiagnostics) -> Verdict:
    """Judge a fit by its training, effective rows, tail, normaliser and calibration."""
    troubles = (found.fit_trouble, _few_rows(found), _tail(found), _average(found), _slope(found))
    support = (
        f"{found.effective_sample_size:.0f} effective rows of {found.n_rows}, "
        f"Pareto shape {found.normaliser.pareto_shape:.2f}"
    )
    return Verdict(tuple(t for t in troubles if t is not None), support)


def _few_rows(found: RatioDiagnostics) -> Trouble | None:
    if found.has_overlap:
        return None
    rows = f"{found.effective_sample_size:.1f} of {found.n_rows}"
    return Trouble(f"the effective sample size is {rows} rows of x_0", _CLOSER)


def _tail(found: RatioDiagnostics) -> Trouble | None:
    if not found.normaliser.is_heavy_tailed or found.normaliser.doubt is None:
        return None
    if math.isnan(found.normaliser.pareto_shape):
        return Trouble(found.normaliser.doubt, "Hold out more rows; 100 of x_0 suffice.")
    return Trouble(found.normaliser.doubt, _CLOSER)


def _average(found: RatioDiagnostics) -> Trouble | None:
    """A saturated ratio has nearly equal weights; only its mean reveals the problem."""
    if found.is_normalised:
        return None
    return Trouble(
        f"the ratio averages exp({found.normaliser.log_value:.2g}) over x_0, the true one 1",
        "It levels off, or was trained too briefly: train longer, or use SecantRatio.",
    )


def _slope(found: RatioDiagnostics) -> Trouble | None:
    line = found.calibration.recalibration
    off = line.slope - 1.0
    if not abs(off) > _BAD_SLOPE + _STANDARD_ERRORS * line.slope_error:
        return None
    steep = "steep" if off < 0.0 else "flat"
    return Trouble(
        f"the log ratio is too {steep}, recalibration slope {line.slope:.2f} ± "
        f"{line.slope_error:.2f}",
        "Use more rows or a simpler model, or multiply the log ratio by the slope."
        if off < 0.0
        else "Train longer or use a larger model, or multiply the log ratio by the slope.",
    )
