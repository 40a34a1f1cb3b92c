"""Normal intervals around estimates."""

from __future__ import annotations

from statistics import NormalDist


def checked_confidence(confidence: float) -> None:
    """Refuse a level that is no probability."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(
            f"`confidence` must lie between 0 and 1, such as 0.95; got {confidence!r}."
        )


def normal_interval(estimate: float, error: float, confidence: float) -> tuple[float, float]:
    """estimate ± z · error at this level."""
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    return estimate - z * error, estimate + z * error
