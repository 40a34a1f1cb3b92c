"""What methods that regress on the conditional time score (C1) share: times, and a check of p_0."""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Array, Float

from secant.estimators.preparation import Prepared
from secant.exceptions import GaussianStartWarning
from secant.paths import DiffusionInterpolant, Path
from secant.targets.batch import Target
from secant.time_samplers import TimeSampler

__all__ = ["conditional_sampler", "warn_unless_standard_normal"]

_FAR = 0.1  # of a mean from 0 or a covariance from the identity, beyond five standard errors


def conditional_sampler(
    sampler: TimeSampler, target: Target, path: Path, prepared: Prepared
) -> TimeSampler:
    """The sampler with the variance of (C1) over the target's times, for those that weigh by it."""
    low, high = target.time_range(path)

    def variance(share: Float[Array, " m"]) -> Float[Array, " m"]:
        t = low + (high - low) * share
        return path.mean_conditional_variance(t, prepared.moments, prepared.n_features)

    return sampler.resolved(variance)


def warn_unless_standard_normal(path: Path, prepared: Prepared) -> None:
    """Say so where the diffusion interpolant's conditional does not hold (erratum 3)."""
    if not isinstance(path, DiffusionInterpolant):
        return
    allowed = _FAR + 5.0 / np.sqrt(prepared.rows_0.shape[0])
    mean = float(np.max(np.abs(prepared.gaussian_0.mean)))
    off = prepared.gaussian_0.covariance - np.eye(prepared.n_features)
    covariance = float(np.max(np.abs(off)))
    if max(mean, covariance) > allowed:
        warnings.warn(
            "the conditional time score of DiffusionInterpolant needs x_0 ~ N(0, I); after scaling "
            f"its mean is off by up to {mean:.2g} and its covariance by up to {covariance:.2g}. "
            "Use DiffusionBridge(), which takes any x_0, or standard normal rows with "
            "scaling=Identity().",
            GaussianStartWarning,
            stacklevel=2,
        )
