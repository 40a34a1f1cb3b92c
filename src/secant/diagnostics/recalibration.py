"""Recalibration: the line a + b·log r̂ that fits held-out rows best."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import expit

__all__ = ["Recalibration", "recalibrated"]

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
