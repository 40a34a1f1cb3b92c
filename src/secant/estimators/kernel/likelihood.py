"""KLIEP (D3): the likelihood of x_1 under r p_0, maximised over non-negative coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from secant.estimators.kernel.linear_model import (
    Coefficients,
    FeatureBlocks,
    Ridges,
    Solver,
    Values,
    line_search,
)

_TINY = 1e-10  # added to r: a row far from every centre must not make the likelihood 0
_LEAST_MEAN = 1e-12  # of a kernel over x_0: a centre far from all of x_0 has no scale to learn
_JITTER = 1e-8  # of the mean curvature, so that its Cholesky factor exists


@dataclass(frozen=True)
class _Point:
    """The objective Σπ − E_1[log(Σ π_k φ_k/m_k)] with its derivatives at some π."""

    value: float
    gradient: Coefficients
    curvature: Float[np.ndarray, "b b"]

    def gap(self, share: Coefficients) -> float:
        """At least as many nats as the likelihood of π lies below its maximum (D3)."""
        return float(share @ self.gradient + np.max(-self.gradient))


@dataclass(frozen=True)
class Likelihood(Solver):
    """max E_1[log r] subject to E_0[r] = 1 and θ ≥ 0 (D3), by sequential quadratic programs.

    Attributes:
        tolerance: nats by which the likelihood may fall short of its maximum.
        max_steps: Newton steps at most; about ten are taken.
    """

    tolerance: float = 1e-6
    max_steps: int = 100

    def coefficients(self, blocks: FeatureBlocks, ridges: Ridges) -> Float[np.ndarray, "b k"]:
        """θ, the same for every ridge: there is none in the likelihood."""
        mean = np.sum([b.denominator @ b.features for b in blocks()], axis=0)
        scale = 1.0 / np.maximum(mean, _LEAST_MEAN)
        share = np.full(mean.size, 1.0 / mean.size)
        for _ in range(self.max_steps):
            point = _evaluated(blocks, scale, share)
            if point.gap(share) <= self.tolerance:
                break
            share = _stepped(blocks, scale, share, point)
        theta = share * scale
        # The optimum sums to one by itself; here to rounding also where steps ran out.
        return np.repeat((theta / (mean @ theta))[:, None], ridges.size, axis=1)

    def criterion(
        self, log_ratio: Float[np.ndarray, "n k"], share_0: Values, share_1: Values
    ) -> Ridges:
        """Minus the held-out log likelihood E_1[log r]."""
        del share_0
        return -(share_1 @ log_ratio)


def _evaluated(blocks: FeatureBlocks, scale: Coefficients, share: Coefficients) -> _Point:
    value, gradient = float(share.sum()), np.ones(share.size)
    curvature = np.zeros((share.size, share.size))
    for block in blocks():
        seen = block.numerator > 0.0
        u, likelihood = block.numerator[seen], block.features[seen] * scale
        ratio = likelihood @ share + _TINY
        value -= float(u @ np.log(ratio))
        gradient -= (u / ratio) @ likelihood
        weighted = likelihood * (np.sqrt(u) / ratio)[:, None]
        curvature += weighted.T @ weighted
    return _Point(value, gradient, curvature)


def _value(blocks: FeatureBlocks, scale: Coefficients, share: Coefficients) -> float:
    total = float(share.sum())
    for block in blocks():
        ratio = block.features @ (scale * share) + _TINY
        total -= float(block.numerator @ np.log(ratio))
    return total


def _stepped(
    blocks: FeatureBlocks, scale: Coefficients, share: Coefficients, point: _Point
) -> Coefficients:
    """The minimum over π ≥ 0 of the quadratic model, approached as far as the objective falls."""
    direction = _model_minimum(share, point) - share
    slope = float(point.gradient @ direction)
    objective = partial(_value, blocks, scale)
    moved, falls = line_search(objective, share, direction, value=point.value, slope=slope)
    # An EM step never makes the likelihood worse, however ill-conditioned the curvature.
    return moved if falls else share * (1.0 - point.gradient)


def _model_minimum(share: Coefficients, point: _Point) -> Coefficients:
    jitter = _JITTER * np.trace(point.curvature) / share.size
    curvature = point.curvature + jitter * np.eye(share.size)
    factor = cholesky(curvature)
    linear = curvature @ share - point.gradient
    target = solve_triangular(factor, linear, trans="T")
    try:
        return np.asarray(nnls(factor, target)[0])
    except RuntimeError:  # its active set did not settle: the EM step instead
        return share * (1.0 - point.gradient)
