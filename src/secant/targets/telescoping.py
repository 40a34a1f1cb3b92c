"""Telescoping (R1): a logistic loss for every bridge between two waymarks."""

from __future__ import annotations

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from secant.models.secant_function import SecantFunction
from secant.models.telescoping import TelescopingFunction
from secant.paths import Path
from secant.targets.batch import Batch, Target
from secant.targets.bregman import Logistic

__all__ = ["DimensionMixing", "LinearCombination", "Telescoping", "Waymarks"]


class Waymarks(eqx.Module):
    """How rows of the samples between x_0 and x_1 are made."""

    @abc.abstractmethod
    def __call__(
        self, path: Path, batch: Batch, number: Int[Array, " n"], n_bridges: int
    ) -> Float[Array, "n d"]:
        """Rows of waymark `number`: x_0 itself at 0, x_1 at n_bridges."""


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


class Telescoping(Target):
    """(R1) softplus(h_m(x_m)) + softplus(−h_m(x_{m+1})), one bridge per row, in turn.

    Attributes:
        waymarks: how the rows between the samples are made.
    """

    waymarks: Waymarks = LinearCombination()

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row, in its own bridge."""
        if not isinstance(model, TelescopingFunction):
            raise TypeError(f"Telescoping trains TelescopingHeads; got {type(model).__name__}.")
        number = jnp.arange(batch.t.shape[0]) % model.n_bridges
        ends = (self.waymarks(path, batch, number + k, model.n_bridges) for k in (0, 1))
        on_left, on_right = (
            jnp.take_along_axis(model.bridges(x), number[:, None], axis=-1)[:, 0] for x in ends
        )
        return Logistic().pair_losses(on_left, on_right)

    def time_range(self, path: Path) -> tuple[float, float]:
        """The whole of [0, 1]: the waymarks' times are their own."""
        del path
        return 0.0, 1.0
