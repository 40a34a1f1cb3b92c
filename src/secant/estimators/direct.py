"""Estimators fitted without gradient steps, evaluated by the logistic loss."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from secant.diagnostics import FeatureDrift, RatioDiagnostics
from secant.estimators._base import RatioEstimator
from secant.exceptions import OverlapWarning


@dataclass(frozen=True, kw_only=True)
class DirectDiagnostics(RatioDiagnostics):
    """Diagnostics of a ratio that is bounded, by clipping or by probabilities of a classifier.

    Where the samples do not overlap, such a ratio saturates. The weights are then nearly equal, and
    the normaliser reveals the problem, not the effective sample size.
    """

    def warn(self) -> None:
        """Issue the warnings for this fit."""
        super().warn()
        if self.has_overlap and not self.is_normalised:
            warnings.warn(
                f"the ratio averages {math.exp(self.normaliser.log_value):.2g} over held-out rows "
                "of x_0, the true one 1: it levels off where the samples hardly overlap. Collect "
                "x_0 rows nearer to x_1, compare fewer features, or use SecantRatio.",
                OverlapWarning,
                stacklevel=3,
            )


@dataclass(frozen=True)
class HeldOutRatios:
    """Out-of-fold log ratios of both samples."""

    zero: Float[np.ndarray, " n"]
    one: Float[np.ndarray, " m"]

    @classmethod
    def resampled(
        cls,
        log_ratio: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]],
        shares: tuple[Float[np.ndarray, " n"] | None, Float[np.ndarray, " m"] | None],
        rng: np.random.Generator,
    ) -> HeldOutRatios:
        """Resample rows in proportion to their weights."""
        return cls(*(_drawn(v, s, rng) for v, s in zip(log_ratio, shares, strict=True)))

    def loss(self) -> tuple[float, float]:
        """E_0[softplus(log r)] + E_1[softplus(−log r)], the logistic loss, and its error."""
        losses = np.logaddexp(0.0, self.zero), np.logaddexp(0.0, -self.one)
        variance = sum(float(x.var()) / x.size for x in losses)
        return sum(float(x.mean()) for x in losses), math.sqrt(variance)

    def diagnostics(self, drift: tuple[FeatureDrift, ...] = ()) -> DirectDiagnostics:
        """Diagnostics of the fit from these rows."""
        common = RatioDiagnostics.from_scores(self.zero, self.one, loss=self.loss(), drift=drift)
        return DirectDiagnostics(**vars(common))


def _drawn(
    values: Float[np.ndarray, " n"],
    shares: Float[np.ndarray, " n"] | None,
    rng: np.random.Generator,
) -> Float[np.ndarray, " n"]:
    if shares is None or np.ptp(shares) == 0.0:
        return values
    return rng.choice(values, size=values.size, p=shares / shares.sum())


def stratified_folds(
    group: Int[np.ndarray, " n"], n_folds: int, rng: np.random.Generator
) -> Int[np.ndarray, " n"]:
    """A fold for each row, or −1 for rows that are never left out, the only ones of their group.

    Every group is divided evenly over the folds, so each fit has rows of every group.
    """
    folds = np.full(group.size, -1)
    for value in np.unique(group):
        members = np.flatnonzero(group == value)
        if members.size > 1:
            folds[rng.permutation(members)] = np.arange(members.size) % min(n_folds, members.size)
    return folds


def __getattr__(name: str) -> type:
    """`DirectMixin` and `DirectRatio`, whose score every estimator has now."""
    if name not in ("DirectMixin", "DirectRatio"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
    warnings.warn(
        f"{name} will be removed: derive from RatioEstimator, which has its score.",
        DeprecationWarning,
        stacklevel=2,
    )
    return type(name, (RatioEstimator,) if name == "DirectRatio" else (), {})
