"""Calibration: predicted log ratios against observed frequencies of the two samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit, log_expit, logsumexp

_FEWEST = 10  # minimum number of rows of both samples in a bin


@dataclass(frozen=True)
class CalibrationCurve:
    """Predicted against observed log odds of x_1 over x_0, bin by bin of the log ratio (Q1).

    Both samples have equal total weight. Attributes are arrays (bins,).

    Attributes:
        mean_log_ratio: the mean of log r̂ over the bin's rows.
        predicted: the log odds that log r̂ predicts for the bin.
        observed: the observed log odds, log of (share of x_1's rows)/(share of x_0's rows).
        standard_error: of the observed log odds.
        counts_0: rows of x_0 in the bin.
        counts_1: rows of x_1.
        recalibration: the straight line through them, by logistic regression (Q2).
    """

    mean_log_ratio: Float[np.ndarray, " b"]
    predicted: Float[np.ndarray, " b"]
    observed: Float[np.ndarray, " b"]
    standard_error: Float[np.ndarray, " b"]
    counts_0: Int[np.ndarray, " b"]
    counts_1: Int[np.ndarray, " b"]
    recalibration: Recalibration

    @property
    def n_bins(self) -> int:
        """The number of bins."""
        return self.predicted.size

    @property
    def is_bound(self) -> np.ndarray:
        """(bins,) whether the bin has rows of one sample only: the log odds are a bound there."""
        return np.asarray((self.counts_0 == 0) | (self.counts_1 == 0))


def calibration_curve(
    log_ratio_0: Float[np.ndarray, " n"], log_ratio_1: Float[np.ndarray, " m"], n_bins: int = 10
) -> CalibrationCurve:
    """Compare held-out log ratios with the sample that each row came from (Q1).

    Args:
        log_ratio_0: log r̂ of held-out rows of x_0; infinities are ignored.
        log_ratio_1: the same for x_1.
        n_bins: maximum number of bins, of equal mass and at least ten rows.
    """
    parts = [np.asarray(v, dtype=np.float64) for v in (log_ratio_0, log_ratio_1)]
    zero, one = (v[np.isfinite(v)] for v in parts)
    if not (zero.size and one.size):
        empty, none = np.empty(0), np.empty(0, dtype=np.int64)
        return CalibrationCurve(empty, empty, empty, empty, none, none, recalibrated(zero, one))
    scores = np.concatenate([zero, one])
    share = np.repeat([0.5 / zero.size, 0.5 / one.size], [zero.size, one.size])
    members = _bins(scores, share, max(1, min(n_bins, scores.size // _FEWEST)))
    counts = [np.bincount(m, minlength=members.max() + 1) for m in np.split(members, [zero.size])]
    observed, error = _log_odds(counts[0], counts[1])
    return CalibrationCurve(
        mean_log_ratio=np.bincount(members, share * scores) / np.bincount(members, share),
        predicted=_predicted(scores, share, members),
        observed=observed,
        standard_error=error,
        counts_0=counts[0],
        counts_1=counts[1],
        recalibration=recalibrated(zero, one),
    )


def _bins(
    scores: Float[np.ndarray, " n"], share: Float[np.ndarray, " n"], n_bins: int
) -> Int[np.ndarray, " n"]:
    """The bin of each score: bins of equal mass; ties share a bin."""
    order = np.argsort(scores, kind="stable")
    cumulative = np.cumsum(share[order])
    # Slightly less, because sums of shares may differ from 1/n_bins by rounding.
    ends = np.searchsorted(cumulative, np.arange(1, n_bins) / n_bins - 1e-9)
    edges = np.unique(scores[order][np.minimum(ends, scores.size - 1)])
    found = np.searchsorted(edges, scores, side="left")
    return np.unique(found, return_inverse=True)[1]


def _predicted(
    scores: Float[np.ndarray, " n"], share: Float[np.ndarray, " n"], members: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " b"]:
    """logit of the mean of σ(log r̂) over each bin, the expected log odds for the true ratio."""
    odds = []
    for k in range(members.max() + 1):
        inside = members == k
        for_one = logsumexp(log_expit(scores[inside]), b=share[inside])
        odds.append(for_one - logsumexp(log_expit(-scores[inside]), b=share[inside]))
    return np.array(odds)


def _log_odds(
    counts_0: Int[np.ndarray, " b"], counts_1: Int[np.ndarray, " b"]
) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, " b"]]:
    """Log odds with half a row added to every count, so that empty bins give finite bounds.

    A count c of n has Var log(c/n) = 1/c − 1/n.
    """
    n_0, n_1 = counts_0.sum() + 0.5, counts_1.sum() + 0.5
    c_0, c_1 = counts_0 + 0.5, counts_1 + 0.5
    variance = np.maximum(1.0 / c_0 - 1.0 / n_0, 0.0) + np.maximum(1.0 / c_1 - 1.0 / n_1, 0.0)
    return np.log(c_1 / c_0) - math.log(n_1 / n_0), np.sqrt(variance)


_ROUNDS = 50
_SMALL_STEP = 1e-9


@dataclass(frozen=True)
class Recalibration:
    """a + b·log r̂, the best log ratio on that line by the logistic loss of held-out rows (Q2).

    A slope below 1 means that log r̂ is too steep (overconfident), above 1 that it is too flat.
    NaN if the scores of the samples are separated or all equal, so that the line is not determined.

    Attributes:
        slope: b, 1 if calibrated.
        intercept: a in nats, 0 if calibrated.
        slope_error: standard error of b.
        intercept_error: of a.
    """

    slope: float
    intercept: float
    slope_error: float
    intercept_error: float

    @property
    def is_known(self) -> bool:
        """Whether the line is determined by the rows."""
        return math.isfinite(self.slope) and math.isfinite(self.slope_error)


_UNKNOWN = Recalibration(math.nan, math.nan, math.nan, math.nan)


def recalibrated(
    log_ratio_0: Float[np.ndarray, " n"], log_ratio_1: Float[np.ndarray, " m"]
) -> Recalibration:
    """Minimise E_0[softplus(a + b g)] + E_1[softplus(−a − b g)] over a, b (Q2)."""
    if not _mix(log_ratio_0, log_ratio_1):
        return _UNKNOWN
    unit = float(np.concatenate([log_ratio_0, log_ratio_1]).std())
    zero, one = (np.stack([np.ones(g.size), g / unit]) for g in (log_ratio_0, log_ratio_1))
    found = _minimised(zero, one)
    if found is None:
        return _UNKNOWN
    covariance = _sandwich(found, zero, one)
    errors = np.sqrt(np.diag(covariance))
    return Recalibration(
        slope=float(found[1]) / unit,
        intercept=float(found[0]),
        slope_error=float(errors[1]) / unit,
        intercept_error=float(errors[0]),
    )


def _mix(zero: Float[np.ndarray, " n"], one: Float[np.ndarray, " m"]) -> bool:
    """Whether no threshold separates the samples; if one does, the best slope is infinite."""
    if not (zero.size and one.size):
        return False
    return bool(zero.max() > one.min() and one.max() > zero.min())


def _loss(
    line: Float[np.ndarray, " 2"], zero: Float[np.ndarray, "2 n"], one: Float[np.ndarray, "2 m"]
) -> float:
    return float(np.logaddexp(0.0, line @ zero).mean() + np.logaddexp(0.0, -(line @ one)).mean())


def _derivatives(
    line: Float[np.ndarray, " 2"], zero: Float[np.ndarray, "2 n"], one: Float[np.ndarray, "2 m"]
) -> tuple[Float[np.ndarray, "2 n"], Float[np.ndarray, "2 m"], Float[np.ndarray, "2 2"]]:
    """Each row's gradient, and the Hessian of the loss."""
    p_0, p_1 = expit(line @ zero), expit(line @ one)
    curvature_0, curvature_1 = p_0 * (1.0 - p_0) / p_0.size, p_1 * (1.0 - p_1) / p_1.size
    hessian = (zero * curvature_0) @ zero.T + (one * curvature_1) @ one.T
    return zero * p_0, one * (p_1 - 1.0), hessian


def _minimised(
    zero: Float[np.ndarray, "2 n"], one: Float[np.ndarray, "2 m"]
) -> Float[np.ndarray, " 2"] | None:
    """Newton's method with step halving; None if it does not converge."""
    line, value = np.zeros(2), 2.0 * math.log(2.0)
    for _ in range(_ROUNDS):
        gradient_0, gradient_1, hessian = _derivatives(line, zero, one)
        step = _solved(hessian, gradient_0.mean(axis=1) + gradient_1.mean(axis=1))
        if step is None:
            return None
        while _loss(line - step, zero, one) > value and np.abs(step).max() > _SMALL_STEP:
            step = 0.5 * step
        line, value = line - step, _loss(line - step, zero, one)
        if np.abs(step).max() <= _SMALL_STEP * (1.0 + np.abs(line).max()):
            return line
    return None


def _solved(
    matrix: Float[np.ndarray, "2 2"], right: Float[np.ndarray, " 2"]
) -> Float[np.ndarray, " 2"] | None:
    if not np.linalg.cond(matrix) < 1e14:
        return None
    return np.asarray(np.linalg.solve(matrix, right))


def _sandwich(
    line: Float[np.ndarray, " 2"], zero: Float[np.ndarray, "2 n"], one: Float[np.ndarray, "2 m"]
) -> Float[np.ndarray, "2 2"]:
    """H⁻¹ (V_0/n_0 + V_1/n_1) H⁻¹, V the variance of a row's gradient within its sample."""
    gradient_0, gradient_1, hessian = _derivatives(line, zero, one)
    noise = sum(np.cov(g, bias=True) / g.shape[1] for g in (gradient_0, gradient_1))
    inverse = np.linalg.inv(hessian)
    return np.asarray(inverse @ noise @ inverse)
