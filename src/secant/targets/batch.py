"""Training batches, and the interface of targets."""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from secant.models.secant_function import SecantFunction
from secant.paths import Moments, Path


class Batch(NamedTuple):
    """Paired draws of both samples with fresh noise and an interval l ≤ t for each pair."""

    x_0: Float[Array, "n d"]
    x_1: Float[Array, "n d"]
    z: Float[Array, "n d"]
    l: Float[Array, " n"]
    t: Float[Array, " n"]


class Target(eqx.Module):
    """A training objective: one loss per row, whose mean is minimised by the true secant.

    `uses_intervals` says whether the loss depends on l. If not, t is a single draw of the time
    sampler, because the later of two draws is rarely near the start of the path.

    A target that depends on the data is completed by `resolved`.
    """

    uses_intervals: ClassVar[bool] = False
    uses_conditional: ClassVar[bool] = False  # whether it uses (C1)
    uses_path: ClassVar[bool] = True  # whether it evaluates between the ends

    @abc.abstractmethod
    def losses(self, model: PyTree, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""

    def time_range(self, path: Path) -> tuple[float, float]:
        """Times at which the loss is finite on this path."""
        return path.conditional_time_range if self.uses_conditional else path.time_range

    def needs_standard_normal(self, path: Path) -> bool:
        """Whether the loss is valid on this path only where x_0 ~ N(0, I)."""
        return self.uses_conditional and path.needs_standard_normal

    def resolved(self, moments: Moments) -> Target:
        """The target for samples with these moments."""
        del moments
        return self

    @property
    def bootstraps(self) -> bool:
        """Whether it regresses on the model's own output, so that a curriculum helps."""
        return False

    @property
    def held_out(self) -> Target:
        """The held-out loss by which models are compared; by default the target itself."""
        return self

    def completed(self, model: PyTree, x_0: Float[np.ndarray, "n d"]) -> PyTree:
        """The trained model; a constant that the loss leaves open is set from rows of p_0."""
        del x_0
        return model


def correction(
    model: SecantFunction,
    x: Float[Array, "n d"],
    l: Float[Array, " n"],
    t: Float[Array, " n"],
    velocity: Float[Array, "n d"] | None = None,
) -> Float[Array, "n parts"]:
    """The correction term of (S1), (t − l) ∂_t u(x, l, t), part by part and without gradient.

    At fixed x (`velocity=None`) the JVP direction is (0, 0, 1). With a velocity it is (ẋ_t, 0, 1),
    the paper's total derivative, kept to show its failure (erratum 1).
    """
    direction = jnp.zeros_like(x) if velocity is None else velocity
    _, rate = jax.jvp(
        lambda x, t: model.parts(x, l, t),
        (x, t),
        (direction, jnp.ones_like(t)),
    )
    return jax.lax.stop_gradient((t - l)[:, None] * rate)
