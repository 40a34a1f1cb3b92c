"""The conditional target: regress on the closed-form score given the end points (L1)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

from secant.models.secant_function import SecantFunction
from secant.paths import Moments, Path, conditional_time_score
from secant.targets.batch import Batch, Target, correction
from secant.targets.velocity import ImpliedVelocity


class ConditionalSecantAlignment(Target):
    """(L1) λ(t) |s(x_t, t | y) − u − sg((t − l) ∂_t u)|²; with l = t it is CTSM.

    λ(t) = 1/E_y Var(s | y). The average over y is necessary: a weight that depends on y would bias
    the regression.

    Attributes:
        moments: of the two samples, for λ; filled in by `resolved`.
        vectorised: regress every coordinate of (C1) on its own part of the model.
        frame: `fixed-x`, or `trajectory` for the paper's total derivative (erratum 1).
    """

    uses_intervals: ClassVar[bool] = True
    uses_conditional: ClassVar[bool] = True

    moments: Moments | None = None
    vectorised: bool = False
    frame: Literal["fixed-x", "trajectory"] = "fixed-x"

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t, velocity = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        moving = velocity if self.frame == "trajectory" else None
        tangent = model.parts(x_t, batch.l, batch.t)
        tangent = tangent + correction(model, x_t, batch.l, batch.t, moving)
        return _regression(tangent, path, batch, self.moments, vectorised=self.vectorised)

    def resolved(self, moments: Moments) -> Target:
        """The target for samples with these moments."""
        return replace(self, moments=moments)

    @property
    def bootstraps(self) -> bool:
        """Whether it regresses on the model's own output."""
        return True

    @property
    def held_out(self) -> Target:
        """J, with the weight of this loss if the moments are known."""
        return ImpliedVelocity(self.moments)


class ConditionalTimeScore(Target):
    """(L1) at l = t, CTSM: λ(t) |s(x_t, t | y) − s_θ(x_t, t)|², the tangent's own regression.

    Attributes:
        moments: of the two samples, for λ; filled in by `resolved`.
        vectorised: regress every coordinate of (C1) on its own part of the model (CTSM-v).
    """

    uses_conditional: ClassVar[bool] = True

    moments: Moments | None = None
    vectorised: bool = False

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        """The loss of each row."""
        x_t = path.point(batch.x_0, batch.x_1, batch.z, batch.t).x_t
        tangent = model.tangent_parts(x_t, batch.t)
        return _regression(tangent, path, batch, self.moments, vectorised=self.vectorised)

    def resolved(self, moments: Moments) -> Target:
        """The target for samples with these moments."""
        return replace(self, moments=moments)

    @property
    def held_out(self) -> Target:
        """J, with the weight of this loss if the moments are known."""
        return ImpliedVelocity(self.moments)


def _regression(
    tangent: Float[Array, "n parts"],
    path: Path,
    batch: Batch,
    moments: Moments | None,
    *,
    vectorised: bool,
) -> Float[Array, " n"]:
    """λ(t) |s(x_t, t | y) − tangent|², coordinate by coordinate or on their sums."""
    if moments is None:
        raise ValueError("a conditional target needs the samples' moments: call resolved(moments).")
    score = conditional_time_score(path.conditional(batch.x_0, batch.x_1, batch.z, batch.t))
    if vectorised and tangent.shape != score.shape:
        raise ValueError(
            f"the vectorised target needs a model with one part a column, {score.shape[-1]} here; "
            f"got {tangent.shape[-1]}. Pass a model built with vectorised=True, or "
            "vectorised=False."
        )
    if vectorised:
        gaps = jnp.sum((score - tangent) ** 2, axis=-1)
    else:
        gaps = (jnp.sum(score, axis=-1) - jnp.sum(tangent, axis=-1)) ** 2
    return gaps / path.mean_conditional_variance(batch.t, moments, batch.x_0.shape[-1])
