"""Named warnings: each carries a number and a remedy in its message."""

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
    "OverlapWarning",
    "PrecisionWarning",
    "TrainingWarning",
    "UntrainedWarning",
]


class AtomsWarning(UserWarning):
    """A column holds few values, each in many rows: it has no density."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or was written by other versions or another machine."""


class OverlapWarning(UserWarning):
    """The two samples hardly overlap: averages of the ratio rest on a few rows."""


class ClippedRatioWarning(UserWarning):
    """A fitted ratio is not positive, or beyond its bounds, at many rows, and was clipped there."""


class ConstantColumnWarning(UserWarning):
    """A column takes one value in both samples and says nothing about the ratio."""


class GaussianStartWarning(UserWarning):
    """A method that needs x_0 ~ N(0, I) was given something else."""


class NormaliserWarning(UserWarning):
    """The mass of a learned density could not be told: its likelihoods may be off by a constant."""


class OutlierWarning(UserWarning):
    """A column holds a few values so far from the others that they alone would set its scale."""


class PrecisionWarning(UserWarning):
    """Numbers differ in digits that double precision does not hold."""


class TrainingWarning(UserWarning):
    """Training stopped in a way that the user should know of."""


class DivergenceWarning(TrainingWarning):
    """The loss of a training became infinite or NaN; says what came of the second try."""


class UntrainedWarning(TrainingWarning):
    """No trained state was better than the untrained one, which is kept."""
