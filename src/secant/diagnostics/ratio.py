"""Diagnostics of a fitted ratio on held-out rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from secant._host.notebook import Summarised
from secant.diagnostics.calibration import CalibrationCurve, calibration_curve
from secant.diagnostics.drift import FeatureDrift
from secant.diagnostics.normaliser import (
    Normaliser,
    effective_sample_size,
    has_enough_rows,
    log_normaliser,
)
from secant.diagnostics.text import report_text
from secant.diagnostics.verdict import Trouble, Verdict, verdict
from secant.exceptions import OverlapWarning, TrainingWarning
from secant.integration import SelfCheck
from secant.training.settings import Status

_SATURATED = 1.0  # nats by which log Ẑ may differ from 0, beyond its error


@dataclass(frozen=True, kw_only=True)
class RatioDiagnostics(Summarised):
    """Diagnostics of any fitted ratio on held-out rows; `print` gives a report.

    Attributes:
        held_out_loss: the loss used to compare fits; lower is better. A constant ratio has J = 0
            in the velocity form, and a logistic loss of 2 log 2.
        held_out_error: its standard error.
        normaliser: log Ẑ with its standard error. Beyond about 10 nats between the samples, plain
            Monte Carlo is unreliable; see the effective sample size and the Pareto shape.
        effective_sample_size: of x_0's rows weighted by the ratio.
        n_rows: number of held-out rows of x_0.
        mean_log_ratio_0: mean of the log ratio over held-out rows of x_0 (−KL(p_0‖p_1) if exact).
        mean_log_ratio_1: the same over x_1 (KL(p_1‖p_0) if exact).
        overlap: 1 − total variation, from 0 (disjoint) to 1 (equal) (O1).
        overlap_error: its standard error.
        calibration: predicted against observed log odds, and the line through them (Q1).
        drift: each column of raw rows in both samples.
        self_check: one secant over [0, 1] less many over its parts, at held-out rows of both
            samples (K1); None for a ratio without secants.
    """

    held_out_loss: float
    held_out_error: float
    normaliser: Normaliser
    effective_sample_size: float
    n_rows: int
    mean_log_ratio_0: float
    mean_log_ratio_1: float
    overlap: float
    overlap_error: float
    calibration: CalibrationCurve
    drift: tuple[FeatureDrift, ...] = ()
    self_check: SelfCheck | None = None

    @staticmethod
    def from_scores(
        log_ratio_0: Float[np.ndarray, " n"],
        log_ratio_1: Float[np.ndarray, " m"],
        *,
        loss: tuple[float, float],
        drift: tuple[FeatureDrift, ...] = (),
        self_check: SelfCheck | None = None,
    ) -> RatioDiagnostics:
        """From held-out log ratios of both samples; subclasses extend `vars()` of the result.

        Args:
            log_ratio_0: of held-out rows of x_0.
            log_ratio_1: of rows of x_1.
            loss: the held-out loss and its standard error.
            drift: of the columns.
            self_check: of secants.
        """
        common = estimated_overlap(log_ratio_0, log_ratio_1)
        return RatioDiagnostics(
            held_out_loss=loss[0],
            held_out_error=loss[1],
            normaliser=log_normaliser(log_ratio_0),
            effective_sample_size=effective_sample_size(log_ratio_0),
            n_rows=log_ratio_0.size,
            mean_log_ratio_0=float(log_ratio_0.mean()),
            mean_log_ratio_1=float(log_ratio_1.mean()),
            overlap=common.share,
            overlap_error=common.standard_error,
            calibration=calibration_curve(log_ratio_0, log_ratio_1),
            drift=drift,
            self_check=self_check,
        )

    @property
    def has_overlap(self) -> bool:
        """Whether the effective sample size suffices for weighted means over x_0."""
        return has_enough_rows(self.effective_sample_size, self.n_rows)

    @property
    def is_normalised(self) -> bool:
        """Whether the mean of the ratio over x_0 is 1, within its error."""
        allowed = _SATURATED + 4.5 * self.normaliser.standard_error
        return abs(self.normaliser.log_value) <= allowed

    @property
    def verdict(self) -> Verdict:
        """Whether the ratio can be used for importance weights, and if not, why and what to do."""
        return verdict(self)

    @property
    def fit_trouble(self) -> Trouble | None:
        """Problems of the fit itself."""
        return None

    @property
    def fit_lines(self) -> list[tuple[str, str]]:
        """Lines of the report about the fit, as names and values."""
        return [("held-out loss", f"{self.held_out_loss:.4g} ± {self.held_out_error:.2g}")]

    def __str__(self) -> str:
        """A report of a few aligned lines, the verdict first."""
        return report_text(self)

    def warn(self) -> None:
        """Issue the warnings for this fit."""
        if not self.has_overlap:
            warnings.warn(
                f"effective sample size {self.effective_sample_size:.1f} of {self.n_rows} held-out "
                "rows of x_0: the samples hardly overlap. The log ratio and its mean over x_1 can "
                "be used; importance weights and the normaliser cannot. Collect x_0 rows nearer "
                "to x_1, or compare fewer features.",
                OverlapWarning,
                stacklevel=3,
            )


@dataclass(frozen=True, kw_only=True)
class Diagnostics(RatioDiagnostics):
    """Diagnostics of a trained network, with its training record.

    Attributes:
        status: how training ended.
        best_step: the step whose weights are kept.
        steps: steps done.
        seconds: wall-clock seconds of training.
        has_anchor: whether the network was trained on top of an anchor.
    """

    status: Status
    best_step: int
    steps: int
    seconds: float
    has_anchor: bool = False

    @property
    def fit_trouble(self) -> Trouble | None:
        """Problems of the training run."""
        if self.status.is_good:
            return None
        ended = self.status.name.lower().replace("_", " ")
        return Trouble(f"training ended early ({ended}, step {self.steps})", self.status.value)

    @property
    def fit_lines(self) -> list[tuple[str, str]]:
        """Lines of the report about the fit, as names and values."""
        trained = f"{self.steps} steps in {self.seconds:.1f} s, the best after {self.best_step}"
        if self.best_step == 0 and self.has_anchor:
            trained += ": the anchor alone is kept, no step lowered the held-out loss"
        return [*super().fit_lines, ("training", f"{trained}. {self.status.value}")]

    def warn(self) -> None:
        """Issue the warnings for this fit."""
        # A run that diverged has already warned, with the outcome of the second run.
        if not (self.status.is_good or self.status is Status.DIVERGED):
            warnings.warn(self.status.value, TrainingWarning, stacklevel=3)
        super().warn()


class Overlap(NamedTuple):
    """∫ min(p_0, p_1), the overlap of the two distributions (O1).

    Attributes:
        share: 0 for disjoint distributions, 1 for equal ones.
        standard_error: of the share, from the number of rows.
    """

    share: float
    standard_error: float


def estimated_overlap(
    log_ratio_0: Float[np.ndarray, " n"], log_ratio_1: Float[np.ndarray, " m"]
) -> Overlap:
    """1 − TV(p_0, p_1) from held-out log ratios of both samples (O1).

    `P_0(log r̂ > 0) + P_1(log r̂ ≤ 0)`, ties counting half: the sum of the two error
    rates of a classifier with threshold 0. A poor ratio has larger error rates, so the estimate is
    biased upwards, if at all. Only the sign of log r̂ enters, so outliers have no effect.
    """
    wrong_0, wrong_1 = _positive(log_ratio_0), _positive(-log_ratio_1)
    share = float(wrong_0.mean() + wrong_1.mean())
    error = math.sqrt(wrong_0.var() / wrong_0.size + wrong_1.var() / wrong_1.size)
    return Overlap(min(max(share, 0.0), 1.0), error)


def _positive(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return np.asarray((np.sign(values) + 1.0) / 2.0)
