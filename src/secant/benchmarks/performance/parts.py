"""What each part of our training is worth, in seconds to a quarter of a nat."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from secant.benchmarks.performance.ladders import Goal, Ladders
from secant.benchmarks.performance.races import MakeWithSteps, to_information, warm_up, with_steps
from secant.benchmarks.tasks import Ratio
from secant.estimators import SecantRatio, Standardise
from secant.estimators.preparation import Prepared
from secant.models import AlignedSecant, ResidualMLP, SpectralSecant
from secant.models.networks import Trunk, TrunkBuilder
from secant.paths import DiffusionInterpolant, Path
from secant.schedules import Foellmer, Linear
from secant.time_samplers import Uniform
from secant.training import Training
from secant.training.step import Objective

__all__ = ["parts"]

_TRUNK = ResidualMLP(256)
_GOAL = Goal("Gaussians, d=40", 0.25, seconds=45.0)


def parts() -> Ladders:
    """One thing changed at a time, on 40 dimensions without the anchor, which is exact there."""
    climbs = [to_information(_GOAL, 40, *entry) for entry in _variants().items()]
    about = "what each part of a training is worth, in seconds to a quarter of ten nats"
    return Ladders("performance-parts", about, tuple(climbs), warm_up)


def _variants() -> dict[str, MakeWithSteps]:
    return {
        "as it comes": with_steps(SecantRatio),
        "no anchor": _plain(),
        "no anchor, quadratic features": _plain(trunk=ResidualMLP(256, quadratic=True)),
        "no anchor, batch 128": _plain(batch_size=128),
        "no anchor, batch 2048": _plain(batch_size=2048),
        "no anchor, learning rate × 3": _plain(learning_rate=3e-3),
        "no anchor, learning rate ÷ 3": _plain(learning_rate=3e-4),
        "no anchor, no averaging": _plain(average=0.0),
        "no anchor, Föllmer's path": _plain(path=DiffusionInterpolant(Foellmer())),
        "no anchor, straight path": _plain(path=DiffusionInterpolant(Linear())),
        "no anchor, times not stratified": _plain(_IndependentTimes),
        "no anchor, bfloat16 products": _plain(trunk=_Halved(_TRUNK)),
        "no anchor, secants by alignment": with_steps(
            partial(SecantRatio, AlignedSecant(_TRUNK), anchor=False, scaling=Standardise())
        ),
    }


def _plain(
    kind: type[SecantRatio] = SecantRatio,
    *,
    trunk: TrunkBuilder = _TRUNK,
    path: Path | None = None,
    **training: Any,  # noqa: ANN401 -- settings of a `Training`
) -> MakeWithSteps:
    def make(steps: int, random_state: int) -> Ratio:
        return kind(
            SpectralSecant(trunk=trunk),
            anchor=False,
            scaling=Standardise(),
            path=path,
            training=Training(steps=steps, patience=None, **training),
            random_state=random_state,
        )

    return make


class _Halved(TrunkBuilder):
    """The same trunk with weights and rows rounded to bfloat16."""

    whole: TrunkBuilder

    def build(self, n_in: int, n_out: int, *, key: PRNGKeyArray) -> Trunk:
        return _HalvedTrunk(self.whole.build(n_in, n_out, key=key))


class _HalvedTrunk(eqx.Module):
    whole: Trunk

    def __call__(self, x: Float[Array, " n_in"]) -> Float[Array, " n_out"]:
        halved = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), self.whole)
        return halved(x.astype(jnp.bfloat16)).astype(x.dtype)


class _Independent(Uniform):
    """Uniform times that are not stratified."""

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        return jax.random.uniform(key, (n,))


class _IndependentTimes(SecantRatio):
    """`SecantRatio` with such times."""

    def _objective(self, prepared: Prepared) -> Objective:
        return replace(super()._objective(prepared), time_sampler=_Independent())
