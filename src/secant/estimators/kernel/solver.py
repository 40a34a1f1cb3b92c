"""What it takes to fit the coefficients of a linear model of the ratio."""

from __future__ import annotations

import abc

import numpy as np
from jaxtyping import Float, Int

from secant.estimators.kernel.rows import Blocks, FeatureRows

__all__ = ["Solver", "logistic_loss", "out_of_fold"]


class Solver(abc.ABC):
    """A way to choose θ in r(x) = φ(x)ᵀθ from rows with weights u and v."""

    @abc.abstractmethod
    def coefficients(
        self, blocks: Blocks, ridges: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, "b k"]:
        """θ for each ridge."""

    def held_out(
        self,
        rows: FeatureRows,
        ridges: Float[np.ndarray, " k"],
        folds: Int[np.ndarray, " n"] | None,
    ) -> Float[np.ndarray, "n k"]:
        """r(x) at every row from a fit without it, for each ridge.

        Args:
            rows: features and weights.
            ridges: candidates.
            folds: the fold each row belongs to, −1 for rows never left out; None leaves out one
                row at a time.
        """
        assert folds is not None  # the settings refuse leave-one-out where there is no formula
        return out_of_fold(self, rows, ridges, folds)

    def local(
        self, rows: FeatureRows, fitted: Float[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Minus slope and curvature of each row's loss in its fitted value."""
        raise NotImplementedError  # the settings refuse the balancing of fits that have no ridge

    @abc.abstractmethod
    def criterion(
        self,
        log_ratio: Float[np.ndarray, "n k"],
        share_0: Float[np.ndarray, " n"],
        share_1: Float[np.ndarray, " n"],
    ) -> Float[np.ndarray, " k"]:
        """The loss of held-out log ratios by which candidates are compared."""


def logistic_loss(
    log_ratio: Float[np.ndarray, "n k"],
    share_0: Float[np.ndarray, " n"],
    share_1: Float[np.ndarray, " n"],
) -> Float[np.ndarray, " k"]:
    """E_0[softplus(log r)] + E_1[softplus(−log r)], proper for any log ratio."""
    return share_0 @ np.logaddexp(0.0, log_ratio) + share_1 @ np.logaddexp(0.0, -log_ratio)


def out_of_fold(
    solver: Solver,
    rows: FeatureRows,
    ridges: Float[np.ndarray, " k"],
    folds: Int[np.ndarray, " n"],
) -> Float[np.ndarray, "n k"]:
    """r(x) at every row from a fit to the other folds."""
    ratio = np.empty((folds.size, ridges.size))
    if (folds < 0).any():
        ratio[folds < 0] = rows.features[folds < 0] @ solver.coefficients(rows.blocks, ridges)
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        theta = solver.coefficients(rows.kept(~out).blocks, ridges)
        ratio[out] = rows.features[out] @ theta
    return ratio
