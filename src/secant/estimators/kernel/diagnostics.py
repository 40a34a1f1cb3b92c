"""Diagnostics of a kernel fit: those of any ratio, and how often it had to be clipped."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from secant.diagnostics import FeatureDrift
from secant.estimators.direct import DirectDiagnostics, HeldOutRatios
from secant.estimators.kernel.rows import Rows
from secant.estimators.kernel.selection import Choice, Link, LogLink
from secant.exceptions import ClippedRatioWarning

__all__ = ["KernelDiagnostics", "diagnosed"]

_MANY_CLIPPED = 0.05


@dataclass(frozen=True, kw_only=True)
class KernelDiagnostics(DirectDiagnostics):
    """What a kernel fit says about itself at rows left out of it.

    Attributes:
        clipped_share: of the rows whose fitted ratio lay outside [floor, 1/floor].
    """

    clipped_share: float

    @property
    def fit_lines(self) -> list[tuple[str, str]]:
        """Lines of the report about the fit, as names and values."""
        return [*super().fit_lines, ("rows clipped", f"{100.0 * self.clipped_share:.1f} %")]

    def warn(self) -> None:
        """Issue the warnings for this fit."""
        if self.clipped_share > _MANY_CLIPPED:
            warnings.warn(
                f"the fitted ratio lies outside [floor, 1/floor], or below 0, at "
                f"{100.0 * self.clipped_share:.1f} % of the held-out rows and was clipped there. "
                "A linear model of the ratio does not reach that far: take more rows or centres, "
                'method="kliep", whose ratio is positive, or an estimator of the log ratio such '
                "as SecantRatio.",
                ClippedRatioWarning,
                stacklevel=3,
            )
        super().warn()


def diagnosed(
    choice: Choice,
    rows: Rows,
    link: Link | LogLink,
    rng: np.random.Generator,
    drift: tuple[FeatureDrift, ...] = (),
) -> KernelDiagnostics:
    """What the chosen candidate's held-out ratios say."""
    log_ratio = link.log_ratio(choice.held_out)
    samples = [(log_ratio[s > 0.0], s[s > 0.0]) for s in (rows.share_0, rows.share_1)]
    (zero, share_0), (one, share_1) = samples
    held_out = HeldOutRatios.resampled((zero, one), (share_0, share_1), rng)
    common = held_out.diagnostics(drift)
    clipped = float(0.5 * (rows.share_0 + rows.share_1) @ link.is_clipped(choice.held_out))
    return KernelDiagnostics(**vars(common), clipped_share=clipped)
