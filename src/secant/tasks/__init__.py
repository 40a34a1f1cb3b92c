"""The jobs people come for, each on top of any ratio estimator."""

from secant.tasks.drift import DriftDetector, detect_drift
from secant.tasks.drift_report import DriftReport

__all__ = ["DriftDetector", "DriftReport", "detect_drift"]
