"""Kernel logistic regression (H1): the log ratio itself as a function of the Hilbert space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit

from secant.estimators.kernel.linear_model import (
    Blocks,
    FeatureRows,
    Solver,
    logistic_loss,
    out_of_fold,
)

_TINY = 1e-12  # 1 − h s is positive; rounding must not make it 0
_HALVINGS = 30
_SUFFICIENT = 0.1  # share of the decrease its slope promises that a step must bring


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

    def coefficients(
        self, blocks: Blocks, ridges: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, "b k"]:
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
        self,
        blocks: Blocks,
        ridge: float,
        center: Float[np.ndarray, " b"],
        theta: Float[np.ndarray, " b"],
    ) -> Float[np.ndarray, " b"]:
        """Newton's method with halved steps."""
        for _ in range(self.max_steps):
            gradient, curvature = self._derivatives(blocks, theta)
            gradient = gradient + ridge * (theta - center)
            np.fill_diagonal(curvature, curvature.diagonal() + ridge)
            direction = -cho_solve(cho_factor(curvature), gradient)
            slope = float(gradient @ direction)
            if -slope <= 2.0 * self.tolerance:  # half of it is what the quadratic model promises
                break
            value, size = _value(blocks, ridge, theta - center, theta), 1.0
            for _ in range(_HALVINGS):
                moved = theta + size * direction
                reached = _value(blocks, ridge, moved - center, moved)
                if reached <= value + _SUFFICIENT * size * slope:
                    break
                size *= 0.5
            theta = moved
        return theta

    def _derivatives(
        self, blocks: Blocks, theta: Float[np.ndarray, " b"]
    ) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, "b b"]]:
        """Gradient and curvature of the loss without its penalty."""
        gradient, curvature = np.zeros(theta.size), np.zeros((theta.size, theta.size))
        for block in blocks():
            score, weight = self.local(block, block.features @ theta)
            gradient -= score @ block.features
            curvature += block.features.T @ (block.features * weight[:, None])
        return gradient, curvature

    def held_out(
        self,
        rows: FeatureRows,
        ridges: Float[np.ndarray, " k"],
        folds: Int[np.ndarray, " n"] | None,
    ) -> Float[np.ndarray, "n k"]:
        """f(x) at every row without its fold, or without itself up to one Newton step (H1)."""
        if folds is not None:
            return out_of_fold(self, rows, ridges, folds)
        assert self.iterations == 1  # the settings ask for folds otherwise
        theta = self.coefficients(rows.blocks, ridges)
        columns = [self._left_out(rows, theta[:, k], ridges[k]) for k in range(ridges.size)]
        return np.stack(columns, axis=1)

    def _left_out(
        self, rows: FeatureRows, theta: Float[np.ndarray, " b"], ridge: float
    ) -> Float[np.ndarray, " n"]:
        fitted = rows.features @ theta
        score, weight = self.local(rows, fitted)
        curvature = rows.features.T @ (rows.features * weight[:, None])
        np.fill_diagonal(curvature, curvature.diagonal() + ridge)
        factor = cho_factor(curvature, lower=True)[0]
        s = np.sum(solve_triangular(factor, rows.features.T, lower=True) ** 2, axis=0)
        return fitted - s * score / np.maximum(1.0 - weight * s, _TINY)

    def local(
        self, rows: FeatureRows, fitted: Float[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """u σ(−f) − v σ(f), and (u + v) σ(f) σ(−f)."""
        up, down = expit(fitted), expit(-fitted)
        score = rows.numerator * down - rows.denominator * up
        return score, (rows.numerator + rows.denominator) * up * down

    def criterion(
        self,
        log_ratio: Float[np.ndarray, "n k"],
        share_0: Float[np.ndarray, " n"],
        share_1: Float[np.ndarray, " n"],
    ) -> Float[np.ndarray, " k"]:
        """The loss of the fit itself."""
        return logistic_loss(log_ratio, share_0, share_1)


def _value(
    blocks: Blocks, ridge: float, gap: Float[np.ndarray, " b"], theta: Float[np.ndarray, " b"]
) -> float:
    fitted = ((b, b.features @ theta) for b in blocks())
    losses = (
        b.denominator @ np.logaddexp(0.0, f) + b.numerator @ np.logaddexp(0.0, -f)
        for b, f in fitted
    )
    return float(sum(losses)) + 0.5 * ridge * float(gap @ gap)
