"""Estimators that learn along a path: every log p_t − log p_l, not only the ratio of the ends."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from secant.bridges import BRIDGES, bridge_loss
from secant.estimators.blocks import ROWS_AT_ONCE
from secant.estimators.neural import NeuralRatio
from secant.integration import Integral, Rule, SecantSteps, SelfCheck, tangent
from secant.targets.batch import Target
from secant.targets.velocity import ImpliedVelocity

__all__ = ["PathRatio"]

_STEPS = 4


class PathRatio(NeuralRatio):
    """A ratio learned along a path and judged by the velocity form, however it was trained."""

    def _held_out_target(self) -> Target:
        return ImpliedVelocity()

    def integrate(self, X: ArrayLike, rule: Rule) -> Integral:
        """The log ratio by any rule, with its number of evaluations and error estimate."""
        return self._integrated(X, rule)

    def self_check(self, X: ArrayLike, n_steps: int = 8) -> SelfCheck:
        """One step against 2·n_steps steps on the same rows."""
        return self._self_check(self._scaled_input(X), n_steps)

    def _self_check(self, scaled: Float[np.ndarray, "n d"], n_steps: int) -> SelfCheck:
        one, many = (self._evaluated(scaled, SecantSteps(m)) for m in (1, 2 * n_steps))
        return SelfCheck.of(one, many)

    def _held_out_self_check(
        self, held_0: Float[np.ndarray, "n d"], held_1: Float[np.ndarray, "m d"]
    ) -> SelfCheck | None:
        if not isinstance(self.rule_, SecantSteps):
            return None  # a tangent model has no secants of its own
        # Not fewer rows: in blocks of the sizes just scored, nothing is compiled anew.
        zero, one = (self._self_check(x[:ROWS_AT_ONCE], _STEPS) for x in (held_0, held_1))
        square = 0.5 * (zero.root_mean_square**2 + one.root_mean_square**2)
        return SelfCheck(0.5 * (zero.mean + one.mean), float(np.sqrt(square)), one.evaluations)

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
        step = SecantSteps(1)
        rise = self._integrated(X, lambda model, x: step(model, x, l, t))
        return np.asarray(rise.value) / (t - l)

    def time_score(self, X: ArrayLike, t: float) -> Float[np.ndarray, " n"]:
        """s(x, t) = ∂_t log p_t(x) for each row."""
        if not 0.0 <= t <= 1.0:
            raise ValueError(f"`t` must lie in [0, 1]; got {t}.")
        return np.asarray(self._integrated(X, lambda model, x: tangent(model, x, t)).value)
