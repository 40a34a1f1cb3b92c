"""Estimators whose log ratio has a gradient, and what it says about single columns."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from secant.estimators._base import RatioEstimator
from secant.estimators.blocks import one_behind, padded_blocks
from secant.estimators.checks import checked_rows, is_count
from secant.estimators.scaling import Scaling
from secant.forking import check_not_forked
from secant.integration import GaussLegendre, Rule, SecantSteps, Trapezoid
from secant.models.secant_function import SecantFunction

__all__ = ["DifferentiableRatio"]


class DifferentiableRatio(RatioEstimator):
    """A ratio estimator with a JAX model on scaled columns."""

    model_: SecantFunction
    scaling_: Scaling
    rule_: Rule

    def _checked_input(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        check_not_forked()
        if not _is_on_disk(X):
            return super()._checked_input(X)
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return checked_rows(X, "X", least=1)

    def log_ratio_gradient(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        """∂ log r̂(x)/∂x_i for each row and column, in nats per unit of the column as it came.

        The network's gradient times the slope of the scaling. A column given a normal margin has a
        slope with steps (its table is piecewise linear): for what a column contributes, use
        `integrated_gradients`, which needs no slope. Rules that choose their own nodes give way to
        16 Gauss–Legendre nodes.
        """
        rows = self._checked_input(X)
        scaled = self._gradient(self.scaling_(rows))
        return scaled * self.scaling_.slope(rows)

    def integrated_gradients(
        self, X: ArrayLike, baseline: ArrayLike, *, n_nodes: int = 16
    ) -> Float[np.ndarray, "n d"]:
        """What each column adds to log r̂(x) − log r̂(b), in nats (A1).

        `(z_i − b_i) ∫_0^1 ∂_i log r̂(b + s(z − b)) ds`, rows summing to the difference; z and b are
        the rows in scaled columns. The line between them is straight there, so no unit matters.

        Args:
            X: rows (n, d).
            baseline: what to compare with: one row, or one a row of X.
            n_nodes: Gauss–Legendre nodes along the line, a gradient each.

        References:
            [@sundararajan2017axiomatic]
        """
        if not is_count(n_nodes, least=1):
            raise ValueError(f"`n_nodes` must be a whole number of at least 1; got {n_nodes!r}.")
        x = self.scaling_(self._checked_input(X))
        start = self.scaling_(self._checked_input(np.atleast_2d(np.asarray(baseline))))
        if start.shape[0] not in (1, x.shape[0]):
            raise ValueError(
                f"`baseline` must have 1 row, or {x.shape[0]}, as X has; got {start.shape[0]}."
            )
        start = np.broadcast_to(start, x.shape)
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        mean = np.zeros(x.shape)
        for s, weight in zip((nodes + 1.0) / 2.0, weights / 2.0, strict=True):
            mean += weight * self._gradient((start + s * (x - start)).astype(np.float32))
        return (x.astype(np.float64) - start) * mean

    def _gradient(self, scaled: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """In scaled columns."""
        fixed = isinstance(self.rule_, SecantSteps | Trapezoid | GaussLegendre)
        rule = self.rule_ if fixed else GaussLegendre()

        def total(x: Float[Array, "m d"]) -> Float[Array, ""]:
            return jnp.sum(jnp.asarray(rule(self.model_, x).value))

        blocks = one_behind(jax.grad(total)(block) for block in padded_blocks(scaled))
        return np.concatenate([np.asarray(block) for block in blocks])[: scaled.shape[0]].astype(
            np.float64
        )


def _is_on_disk(X: ArrayLike) -> bool:
    """Whether these are mapped rows, to be read a few at a time; odd ones are refused elsewhere."""
    return isinstance(X, np.memmap) and X.ndim == 2 and X.shape[0] > 0 and X.dtype.kind in "fiu"
