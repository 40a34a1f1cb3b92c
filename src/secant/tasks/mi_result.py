"""What an estimate of mutual information says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float

from secant.diagnostics import RatioDiagnostics
from secant.notebook import fragment
from secant.tasks.intervals import normal_interval

__all__ = ["Base", "MutualInformation", "OnPath", "unit_of"]

Base = Literal["nats", "bits"]

_NATS = {"nats": 1.0, "bits": math.log(2.0)}


def unit_of(base: Base) -> float:
    """How many nats one unit is."""
    if base not in _NATS:
        raise ValueError(f"`base` must be 'nats' or 'bits'; got {base!r}.")
    return _NATS[base]


@dataclass(frozen=True)
class OnPath:
    """The second opinion: mutual information along the path (F1), without pointwise values."""

    estimate: float
    standard_error: float


@dataclass(frozen=True)
class MutualInformation:
    """Mutual information (or total correlation) with its error.

    Attributes:
        estimate: in `base`; it may be a little below 0 where there is no dependence.
        standard_error: of the estimate; half of the correction counts as uncertain.
        p_value: against independence, by permutation; NaN if none could be made.
        pointwise: (n,) each row's out-of-fold log ratio; their mean is the estimate. None for an
            estimator that has no pointwise values.
        correction: what the shortfall of fits from so many rows has added to every value.
        base: "nats" or "bits".
        confidence: of the interval.
        is_normalised: whether E_{p_0}[r̂] = 1 could be imposed; if not, the error is of first order
            in that of log r̂.
        diagnostics: of every fit behind the estimate.
        on_path: the second opinion, if one was asked for.
        settings: how it was estimated, by name, as text.
    """

    estimate: float
    standard_error: float
    p_value: float
    pointwise: Float[np.ndarray, " n"] | None
    correction: float
    base: Base
    confidence: float
    is_normalised: bool
    diagnostics: tuple[RatioDiagnostics, ...]
    on_path: OnPath | None = None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The normal confidence interval."""
        return normal_interval(self.estimate, self.standard_error, self.confidence)

    @property
    def opinions_differ(self) -> bool:
        """Whether the second opinion is off by more than two standard errors of the difference."""
        if self.on_path is None:
            return False
        error = math.hypot(self.standard_error, self.on_path.standard_error)
        return abs(self.estimate - self.on_path.estimate) > 2.0 * error

    def __float__(self) -> float:
        """The estimate."""
        return self.estimate

    def __str__(self) -> str:
        """One readable line, and one for each thing to know."""
        low, high = self.interval
        lines = [
            f"{self.estimate:.4f} ± {self.standard_error:.4f} {self.base}, "
            f"{self.confidence:.0%} interval [{low:.4f}, {high:.4f}]"
        ]
        if not math.isnan(self.p_value):
            lines.append(f"independence: p = {self.p_value:.3g}")
        if not self.is_normalised and self.pointwise is not None:
            lines.append("the ratio could not be normalised: its tail is too heavy")
        if self.opinions_differ and self.on_path is not None:
            lines.append(
                f"on the path: {self.on_path.estimate:.4f} ± {self.on_path.standard_error:.4f} "
                f"{self.base}; the two disagree by more than their errors"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks."""
        first, *more = str(self).splitlines()
        return fragment(f"mutual information {first}", [("", line) for line in more])
