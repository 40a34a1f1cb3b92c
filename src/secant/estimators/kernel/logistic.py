"""Kernel logistic regression (H1): the log ratio itself as a function of the Hilbert space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit

from secant.estimators.kernel.linear_model import (
    Coefficients,
    FeatureBlocks,
    FeatureRows,
    Ridges,
    Solver,
    Values,
    curvature_factor,
    line_search,
)

_TINY = 1e-12  # 1 − h s is positive; rounding must not make it 0


@dataclass(frozen=True)
class KernelLogistic(Solver):
    """min E_0[softplus(f)] + E_1[softplus(−f)] + ½ρ‖f − f_m‖², round by round from f_0 = 0 (H1).

    Attributes:
        iterations: rounds; 1 is the plain ridge.
        tolerance: nats by which the penalised loss may stay above its minimum.
        max_steps: Newton steps of a round at most; about five are taken.
    """

    iterations: int = 1
    tolerance: float = 1e-7
    max_steps: int = 50

    def coefficients(self, blocks: FeatureBlocks, ridges: Ridges) -> Float[np.ndarray, "b k"]:
        """θ for each ridge; the stiffest is solved first, and is where the next one starts."""
        theta = np.zeros(next(blocks()).features.shape[1])
        columns = {}
        for k in np.argsort(-ridges):
            center = np.zeros_like(theta)
            for _ in range(self.iterations):
                theta = center = self._minimised(blocks, float(ridges[k]), center, theta)
            columns[k] = theta
        return np.stack([columns[k] for k in range(ridges.size)], axis=1)

    def _minimised(
        self, blocks: FeatureBlocks, ridge: float, center: Coefficients, theta: Coefficients
    ) -> Coefficients:
        """Newton's method with halved steps."""

        def objective(theta: Coefficients) -> float:
            return _loss(blocks, theta) + 0.5 * ridge * float((theta - center) @ (theta - center))

        for _ in range(self.max_steps):
            gradient, curvature = self._derivatives(blocks, theta)
            gradient = gradient + ridge * (theta - center)
            np.fill_diagonal(curvature, curvature.diagonal() + ridge)
            direction = -cho_solve(cho_factor(curvature), gradient)
            slope = float(gradient @ direction)
            if -slope <= 2.0 * self.tolerance:  # half of it is what the quadratic model promises
                break
            value = objective(theta)
            theta, _ = line_search(objective, theta, direction, value=value, slope=slope)
        return theta

    def _derivatives(
        self, blocks: FeatureBlocks, theta: Coefficients
    ) -> tuple[Coefficients, Float[np.ndarray, "b b"]]:
        """Gradient and curvature of the loss without its penalty."""
        gradient, curvature = np.zeros(theta.size), np.zeros((theta.size, theta.size))
        for block in blocks():
            score, weight = self.local(block, block.features @ theta)
            gradient -= score @ block.features
            curvature += block.features.T @ (block.features * weight[:, None])
        return gradient, curvature

    def left_out(self, rows: FeatureRows, ridges: Ridges) -> Float[np.ndarray, "n k"]:
        """f(x) at every row without itself, up to one Newton step (H1)."""
        assert self.iterations == 1  # the settings ask for folds otherwise
        values = rows.features @ self.coefficients(rows.blocks, ridges)
        for k, ridge in enumerate(ridges):
            score, weight = self.local(rows, values[:, k])
            factor = curvature_factor(rows, weight, ridge)
            s = np.sum(solve_triangular(factor, rows.features.T, lower=True) ** 2, axis=0)
            values[:, k] -= s * score / np.maximum(1.0 - weight * s, _TINY)
        return values

    def local(self, rows: FeatureRows, fitted: Values) -> tuple[Values, Values]:
        """u σ(−f) − v σ(f), and (u + v) σ(f) σ(−f)."""
        up, down = expit(fitted), expit(-fitted)
        score = rows.numerator * down - rows.denominator * up
        return score, (rows.numerator + rows.denominator) * up * down


def _loss(blocks: FeatureBlocks, theta: Coefficients) -> float:
    fitted = ((b, b.features @ theta) for b in blocks())
    losses = (
        b.denominator @ np.logaddexp(0.0, f) + b.numerator @ np.logaddexp(0.0, -f)
        for b, f in fitted
    )
    return float(sum(losses))
