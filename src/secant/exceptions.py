"""Warnings, and the error for a lack of overlap: each message has a number and a remedy."""

from __future__ import annotations

__all__ = [
    "AtomsWarning",
    "CheckpointWarning",
    "ClippedRatioWarning",
    "ConstantColumnWarning",
    "DivergenceWarning",
    "GaussianStartWarning",
    "NormaliserWarning",
    "OutlierWarning",
    "OverlapError",
    "OverlapWarning",
    "PrecisionWarning",
    "TrainingWarning",
    "UntrainedWarning",
]


class AtomsWarning(UserWarning):
    """A column has few distinct values, so it has no density."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or was written by other versions or another machine."""


class OverlapError(ValueError):
    """The two samples overlap too little for an estimate."""


class OverlapWarning(UserWarning):
    """The two samples hardly overlap: averages of the ratio depend on a few rows."""


class ClippedRatioWarning(UserWarning):
    """A fitted ratio is outside its bounds at many rows, and was clipped."""


class ConstantColumnWarning(UserWarning):
    """A column is constant in both samples and carries no information about the ratio."""


class GaussianStartWarning(UserWarning):
    """A method that needs x_0 ~ N(0, I) was given something else."""


class NormaliserWarning(UserWarning):
    """The normaliser of a density is unreliable: likelihoods may be off by a constant."""


class OutlierWarning(UserWarning):
    """A column has outliers that would dominate its scale."""


class PrecisionWarning(UserWarning):
    """Numbers differ in digits beyond double precision."""


class TrainingWarning(UserWarning):
    """Training ended before it was finished."""


class DivergenceWarning(TrainingWarning):
    """The loss became infinite or NaN; the message gives the outcome of the second run."""


class UntrainedWarning(TrainingWarning):
    """Training did not improve the held-out loss; the initial state is kept."""
