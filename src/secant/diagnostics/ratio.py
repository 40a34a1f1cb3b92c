"""What a fit says about its ratio, on rows it was not trained on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from secant.diagnostics.calibration import CalibrationCurve, calibration_curve
from secant.diagnostics.drift import FeatureDrift
from secant.diagnostics.normaliser import (
    Normaliser,
    effective_sample_size,
    has_enough_rows,
    log_normaliser,
)
from secant.diagnostics.overlap import estimated_overlap
from secant.diagnostics.text import rendered
from secant.diagnostics.verdict import Trouble, Verdict, verdict
from secant.exceptions import OverlapWarning, TrainingWarning
from secant.integration import SelfCheck
from secant.training.settings import Status

__all__ = ["Diagnostics", "RatioDiagnostics"]

_SATURATED = 1.0  # nats by which log Ẑ is off, beyond its error


@dataclass(frozen=True, kw_only=True)
class RatioDiagnostics:
    """What any fit says about its ratio, on rows it was not trained on; `print` it for a report.

    Attributes:
        held_out_loss: the loss the estimator is judged by; lower is better. If better than no
            model, J of the velocity form is below 0, the logistic loss below 2 log 2.
        held_out_error: its standard error.
        normaliser: log Ẑ with its standard error. Past about 10 nats between the samples, plain
            Monte Carlo says nothing about it; the effective sample size and its Pareto shape tell.
        effective_sample_size: of x_0's rows weighted by the ratio.
        n_rows: rows of x_0 behind the two lines above.
        mean_log_ratio_0: mean of the log ratio over held-out rows of x_0 (−KL(p_0‖p_1) if exact).
        mean_log_ratio_1: the same over x_1 (KL(p_1‖p_0) if exact).
        overlap: the share of either distribution that the other has too, 1 − total variation, from
            0 (nothing in common) to 1 (the same) (O1).
        overlap_error: its standard error.
        calibration: predicted against observed log odds, and the line through them (Q1).
        drift: each column of raw rows in both samples.
        self_check: one secant over [0, 1] less many over its parts, at held-out rows of both
            samples (K1); None for a ratio that is not made of secants.
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
        """From held-out log ratios of both samples; a subclass takes `vars()` of this and more.

        Args:
            log_ratio_0: of rows of x_0 that the fit has not seen.
            log_ratio_1: of rows of x_1.
            loss: what the estimator is judged by, and its standard error.
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
        """Whether weighted means over x_0 rest on enough rows to be believed."""
        return has_enough_rows(self.effective_sample_size, self.n_rows)

    @property
    def is_normalised(self) -> bool:
        """Whether the ratio averages 1 over x_0, as far as its error allows to say."""
        allowed = _SATURATED + 4.5 * self.normaliser.standard_error
        return abs(self.normaliser.log_value) <= allowed

    @property
    def verdict(self) -> Verdict:
        """Whether the ratio can be used for importance weights, and if not, why and what to do."""
        return verdict(self)

    @property
    def fit_trouble(self) -> Trouble | None:
        """What stands against the fit before anything is said about its ratio."""
        return None

    @property
    def fit_lines(self) -> list[tuple[str, str]]:
        """What the report says about the fit itself, as names and values."""
        return [("held-out loss", f"{self.held_out_loss:.4g} ± {self.held_out_error:.2g}")]

    def __str__(self) -> str:
        """A report of a few aligned lines, the verdict first."""
        return rendered(self)

    def warn(self) -> None:
        """Issue the named warnings this fit deserves."""
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
    """The same of a trained network, and how its training went.

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
        """A training that did not end as intended."""
        if self.status.is_good:
            return None
        ended = self.status.name.lower().replace("_", " ")
        return Trouble(f"training ended early ({ended}, step {self.steps})", self.status.value)

    @property
    def fit_lines(self) -> list[tuple[str, str]]:
        """What the report says about the fit itself, as names and values."""
        trained = f"{self.steps} steps in {self.seconds:.1f} s, the best after {self.best_step}"
        if self.best_step == 0 and self.has_anchor:
            trained += ": the anchor alone is kept, no step lowered the held-out loss"
        return [*super().fit_lines, ("training", f"{trained}. {self.status.value}")]

    def warn(self) -> None:
        """Issue the named warnings this fit deserves."""
        # A training that diverged has warned itself, with what its second try gave.
        if not (self.status.is_good or self.status is Status.DIVERGED):
            warnings.warn(self.status.value, TrainingWarning, stacklevel=3)
        super().warn()
