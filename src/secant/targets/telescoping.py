"""Telescoping (R1): a logistic loss for every bridge between two waymarks."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from secant.models.secant_function import SecantFunction
from secant.models.telescoping import TelescopingFunction
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.targets.bregman import Logistic


class Waymarks(eqx.Module):
    """Construction of the samples between x_0 and x_1."""

    @abc.abstractmethod
    def __call__(
        self, path: Path, batch: Batch, number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, "n d"]:
        """Rows of waymark `number`: x_0 itself at 0, x_1 at n_bridges."""

    def log_weights(
        self, log_ratio: Float[Array, " n"], number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, " n"]:
        """The weight of each row, up to a factor of its waymark, given log r̂ there."""
        del number, n_bridges
        return jnp.zeros_like(log_ratio)


class LinearCombination(Waymarks):
    """α x_0 + β x_1 (+ γ z): the path at the times m/M."""

    def __call__(
        self, path: Path, batch: Batch, number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, "n d"]:
        """Rows of waymark `number`."""
        return path.point(batch.x_0, batch.x_1, batch.z, number / n_bridges).x_t


class DimensionMixing(Waymarks):
    """The first m/M of the columns from x_1, the others from x_0."""

    def __call__(
        self, path: Path, batch: Batch, number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, "n d"]:
        """Rows of waymark `number`."""
        del path
        d = batch.x_0.shape[-1]
        swapped = jnp.arange(d) < jnp.round(number * d / n_bridges)[:, None]
        return jnp.where(swapped, batch.x_1, batch.x_0)


class GeodesicMixing(Waymarks):
    """Power means of the two densities, p_m ∝ ((1 − s) p_0^k + s p_1^k)^{1/k}, s = m/M (R2).

    With k = 1 these are mixtures: a row is from x_1 with probability m/M. For k < 1 those rows are
    weighted by the ratio learned so far, with weights of at most 1. k = 0 is the geometric mean.

    Attributes:
        power: k, in [0, 1].

    References:
        [@kimura2025density]
    """

    power: float = 1.0

    def __check_init__(self) -> None:
        if not 0.0 <= self.power <= 1.0:
            raise ValueError(f"GeodesicMixing needs 0 <= power <= 1; got {self.power}.")

    def __call__(
        self, path: Path, batch: Batch, number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, "n d"]:
        """Rows of the mixture: the row's time, which is uniform, selects the sample."""
        del path
        return jnp.where((batch.t < number / n_bridges)[:, None], batch.x_1, batch.x_0)

    def log_weights(
        self, log_ratio: Float[Array, " n"], number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, " n"]:
        """log of the power mean over the mixture, both in units of p_0."""
        if self.power == 1.0:
            return jnp.zeros_like(log_ratio)
        s = number / n_bridges
        mixture = jnp.logaddexp(jnp.log1p(-s), jnp.log(s) + log_ratio)
        if self.power == 0.0:
            return s * log_ratio - mixture
        mean = jnp.logaddexp(jnp.log1p(-s), jnp.log(s) + self.power * log_ratio) / self.power
        return mean - mixture


class Telescoping(Target):
    """(R1) softplus(h_m(x_m)) + softplus(−h_m(x_{m+1})), one bridge per row, in turn.

    Attributes:
        waymarks: how rows of intermediate distributions are constructed.
    """

    waymarks: Waymarks = LinearCombination()

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row, in its own bridge."""
        if not isinstance(model, TelescopingFunction):
            raise TypeError(f"Telescoping trains TelescopingHeads; got {type(model).__name__}.")
        number = jnp.arange(batch.t.shape[0]) % model.n_bridges
        (on_left, left), (on_right, right) = (
            self._weighed(model, self.waymarks(path, batch, number + k, model.n_bridges), number, k)
            for k in (0, 1)
        )
        loss = Logistic()
        return left * loss.conjugate(on_left) - right * loss.slope(on_right)

    def _weighed(
        self, model: TelescopingFunction, x: Float[Array, "n d"], number: Int[Array, " n"], k: int
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Each row's logit in its own bridge, and its weight: 1 on average within a bridge."""
        n_bridges, logits = model.n_bridges, model.bridges(x)
        log_ratio = jax.lax.stop_gradient(jnp.sum(logits, axis=-1))
        weights = jnp.exp(self.waymarks.log_weights(log_ratio, number + k, n_bridges))
        total = jax.ops.segment_sum(weights, number, n_bridges)
        count = jax.ops.segment_sum(jnp.ones_like(weights), number, n_bridges)
        own = jnp.take_along_axis(logits, number[:, None], axis=-1)[:, 0]
        return own, weights * (count / total)[number]

    def time_range(self, path: Path) -> tuple[float, float]:
        """The whole of [0, 1]; the waymarks have their own times."""
        del path
        return 0.0, 1.0
