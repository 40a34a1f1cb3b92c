"""Estimators that learn along a path: every log p_t − log p_l, not only the ratio of the ends."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from secant.bridges import BRIDGES, bridge_loss
from secant.estimators.neural import NeuralRatio
from secant.integration import Integral, Rule, SecantSteps, SelfCheck, self_check, tangent
from secant.targets.batch import Target
from secant.targets.velocity import ImpliedVelocity

__all__ = ["PathRatio"]


class PathRatio(NeuralRatio):
    """A ratio learned along a path and judged by the velocity form, however it was trained."""

    def _held_out_target(self) -> Target:
        return ImpliedVelocity()

    def integrate(self, X: ArrayLike, rule: Rule) -> Integral:
        """The log ratio by any rule, with its number of evaluations and error estimate."""
        return self._evaluated(self._scaled_input(X), rule)

    def self_check(self, X: ArrayLike, n_steps: int = 8) -> SelfCheck:
        """One step against 2·n_steps steps on the same rows."""
        rows = jnp.asarray(self._scaled_input(X))
        return self_check(self.model_, rows, n_steps)

    def bridge_loss(self, x_0: ArrayLike, x_1: ArrayLike) -> float:
        """Mean of (K2) over bridges long and short, on fresh rows; lower is better.

        Unlike J it sees off the path. Compare it between models of one path and one scaling.
        """
        rows_0, rows_1 = (jnp.asarray(self._scaled_input(x)) for x in (x_0, x_1))
        n = min(rows_0.shape[0], rows_1.shape[0])
        key = jax.random.key(0)
        losses = [
            bridge_loss(self.model_, self.path_, rows_0[:n], rows_1[:n], jnp.asarray(m), key=key)
            for m in BRIDGES
        ]
        return float(jnp.mean(jnp.stack(losses)))

    def secant(self, X: ArrayLike, l: float, t: float) -> Float[np.ndarray, " n"]:
        """u(x, l, t) = (log p_t(x) − log p_l(x)) / (t − l) for each row, 0 ≤ l ≤ t ≤ 1."""
        if not 0.0 <= l <= t <= 1.0:
            raise ValueError(f"`l` and `t` must satisfy 0 <= l <= t <= 1; got l={l}, t={t}.")
        if l == t:
            return self.time_score(X, t)
        scaled = self._scaled_input(X)
        step = SecantSteps(1)
        rise = self._evaluated(scaled, lambda model, x: step(model, x, l, t))
        return np.asarray(rise.value) / (t - l)

    def time_score(self, X: ArrayLike, t: float) -> Float[np.ndarray, " n"]:
        """s(x, t) = ∂_t log p_t(x) for each row."""
        if not 0.0 <= t <= 1.0:
            raise ValueError(f"`t` must lie in [0, 1]; got {t}.")
        scaled = self._scaled_input(X)
        return np.asarray(self._evaluated(scaled, lambda model, x: tangent(model, x, t)).value)
