"""Diagnostics of a fitted ratio, from held-out rows."""

from secant.diagnostics.calibration import CalibrationCurve, Recalibration, calibration_curve
from secant.diagnostics.drift import FeatureDrift, feature_drift, top_drift
from secant.diagnostics.normaliser import (
    LARGEST_SHAPE,
    Normaliser,
    effective_sample_size,
    largest_pareto_shape,
    least_effective_rows,
    log_normaliser,
    pareto_shape,
)
from secant.diagnostics.ratio import Diagnostics, Overlap, RatioDiagnostics, estimated_overlap
from secant.diagnostics.verdict import Trouble, Verdict

__all__ = [
    "LARGEST_SHAPE",
    "CalibrationCurve",
    "Diagnostics",
    "FeatureDrift",
    "Normaliser",
    "Overlap",
    "RatioDiagnostics",
    "Recalibration",
    "Trouble",
    "Verdict",
    "calibration_curve",
    "effective_sample_size",
    "estimated_overlap",
    "feature_drift",
    "largest_pareto_shape",
    "least_effective_rows",
    "log_normaliser",
    "pareto_shape",
    "top_drift",
]
