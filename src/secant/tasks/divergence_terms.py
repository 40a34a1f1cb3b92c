"""What each row adds to a divergence: variational forms of out-of-fold log ratios g = log r̂."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import log_expit

from secant.diagnostics import log_normaliser
from secant.tasks.cross_fitting import CrossFit
from secant.tasks.weight_support import fold_normalised

__all__ = [
    "Sides",
    "Terms",
    "chi2",
    "donsker_varadhan",
    "jensen_shannon",
    "plain_mean",
    "total_variation",
]

_LARGEST = 150.0  # log ratio at which χ² is capped: any test function is allowed, overflow is not


@dataclass(frozen=True)
class Sides:
    """Scores with the wanted sample on top, in the place of x_1."""

    scores: CrossFit
    top: str
    below: str

    @classmethod
    def of(cls, scores: CrossFit, *, reverse: bool) -> Sides:
        """p_1 on top as it comes, p_0 if reversed: the log ratio changes its sign."""
        if not reverse:
            return cls(scores, "p_1", "p_0")
        swapped = CrossFit(
            -scores.log_ratio_1,
            -scores.log_ratio_0,
            scores.fold_1,
            scores.fold_0,
            scores.ensembles,
        )
        return cls(swapped, "p_0", "p_1")

    def __str__(self) -> str:
        return f"{self.top}‖{self.below}"


@dataclass(frozen=True)
class Terms:
    """What each row adds: the estimate is mean(one) + mean(zero), rows of p_1 and of p_0."""

    one: Float[np.ndarray, " n_1"]
    zero: Float[np.ndarray, " n_0"]

    @property
    def estimate(self) -> float:
        """The sum of the two means."""
        return float(self.one.mean() + self.zero.mean())

    @property
    def standard_error(self) -> float:
        """Of two independent samples: rows are their own influence functions."""
        parts = (x.var(ddof=1) / x.size for x in (self.one, self.zero))
        return math.sqrt(sum(parts))


def donsker_varadhan(scores: CrossFit) -> Terms:
    """(J1), each fold with its own normaliser, less the bias of the logarithm of its mean."""
    zero, one = fold_normalised(scores)
    for k in range(scores.n_folds):
        bias = 0.5 * log_normaliser(zero[scores.fold_0 == k]).standard_error ** 2
        one[scores.fold_1 == k] -= bias
    return Terms(one, 1.0 - np.exp(zero))


def plain_mean(scores: CrossFit) -> Terms:
    """mean_1(log r̂): no bound, but no normaliser either."""
    return Terms(scores.log_ratio_1, np.zeros(scores.log_ratio_0.size))


def jensen_shannon(scores: CrossFit) -> Terms:
    """(J2): log 2 + ½ mean_1(log σ(g)) + ½ mean_0(log σ(−g))."""
    one, zero = log_expit(scores.log_ratio_1), log_expit(-scores.log_ratio_0)
    return Terms(0.5 * (math.log(2.0) + one), 0.5 * (math.log(2.0) + zero))


def chi2(scores: CrossFit) -> Terms:
    """(J3): 2 mean_1(r̂) − mean_0(r̂²) − 1."""
    one, zero = (np.exp(np.minimum(g, _LARGEST)) for g in (scores.log_ratio_1, scores.log_ratio_0))
    return Terms(2.0 * one - 1.0, -(zero**2))


def total_variation(scores: CrossFit) -> Terms:
    """(J4): mean_1(g > 0) − mean_0(g > 0)."""
    one, zero = (np.where(g > 0.0, 1.0, 0.0) for g in (scores.log_ratio_1, scores.log_ratio_0))
    return Terms(one, -zero)
