"""The ratio estimator that tasks use where none is named."""

from __future__ import annotations

from secant.estimators import (
    AdaptiveMargins,
    ChasmSwitch,
    ClassifierRatio,
    GaussianMoments,
    SecantRatio,
)

__all__ = ["default_ratio"]


def default_ratio(n: int, n_features: int = 1) -> ChasmSwitch:
    """A classifier on a Gaussian anchor where the samples overlap, `SecantRatio` elsewhere.

    Below ten rows a moment there is no anchor: on 230 rows of ten columns, importance weights made
    with one were worth 31 rows, without one 160.

    The Gaussian anchor rather than the mixture: a classifier corrects it wherever it has rows, and
    on the Student copula in 2 + 2 dimensions (2,000 rows) the mixture's far components cost 0.06
    nats that were never made good.
    """
    has_anchor = n >= 5 * n_features * (n_features + 3)
    near = ClassifierRatio(
        anchor=GaussianMoments() if has_anchor else False, scaling=AdaptiveMargins()
    )
    return ChasmSwitch(near, SecantRatio())
