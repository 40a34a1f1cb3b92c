"""What each part of our training is worth: one thing changed at a time, as many rows for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from secant.benchmarks.suites.entries import ONE_PASS, Entry, Make, Suite
from secant.benchmarks.tasks import Ratio, Task
from secant.curricula import FullIntervals
from secant.datasets import block_gaussians
from secant.estimators import GaussianMoments, SecantRatio, Standardise
from secant.estimators.neural import Runner, Stage
from secant.models import AlignedSecant, ResidualMLP, SpectralSecant
from secant.models.networks import Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.models.velocity import MeanVelocity, VelocityField
from secant.paths import DiffusionInterpolant, Path
from secant.samples import Prepared, paired_rows
from secant.schedules import Foellmer, Linear
from secant.targets.batch import Batch, Target
from secant.targets.flow_matching import FlowMatching
from secant.targets.velocity import TangentVelocity, velocity_losses
from secant.time_samplers import LogitNormal, Uniform
from secant.training import Training
from secant.training.held_out import HeldOut
from secant.training.loop import Problem, TrainingResult, train
from secant.training.optimisers import Optimiser
from secant.training.step import Objective

__all__ = ["PLAIN", "parts"]

PLAIN = "no anchor"  # what the others are one change away from
_TRUNK = ResidualMLP(256)
_STEPS = 1_000
_IMPORTANT = LogitNormal(0.0, 1.0)


def parts() -> Suite:
    """Ten nats in 40 dimensions without the anchor, which is exact there; 512,000 rows each."""
    task = Task(block_gaussians(40))
    entries = tuple(Entry(task, name, make, ONE_PASS) for name, make in _variants().items())
    about = "what each part of a training is worth, in error and in seconds"
    return Suite("performance-parts", about, entries, alone=True)


def _variants() -> dict[str, Make]:
    return {
        "as it comes": lambda seed: SecantRatio(training=_training(), random_state=seed),
        PLAIN: _plain(),
        "quadratic features": _plain(SpectralSecant(trunk=ResidualMLP(256, quadratic=True))),
        "batches of 128": _plain(batch_size=128, steps=4 * _STEPS),
        "batches of 2048": _plain(batch_size=2048, steps=_STEPS // 4),
        "batches of 2048, then of 512": _plain(kind=_LargeBatchesFirst),
        "learning rate × 3": _plain(learning_rate=3e-3),
        "learning rate ÷ 3": _plain(learning_rate=3e-4),
        "learning rate without decay": _plain(kind=_by(_Constant())),
        "Adam with Nesterov's momentum": _plain(kind=_by(_Nesterov())),
        "Lion, learning rate ÷ 3": _plain(kind=_by(_Lion()), learning_rate=3e-4),
        "Muon": _plain(kind=_by(_Muon())),
        "no averaging": _plain(average=0.0),
        "Föllmer's path": _plain(path=DiffusionInterpolant(Foellmer())),
        "straight path": _plain(path=DiffusionInterpolant(Linear())),
        "λ = 1 − t²": _plain(kind=_changed(target=_Weighted(lambda t: 1.0 - t**2))),
        "times by importance": _plain(kind=_by_importance()),
        "times not stratified": _plain(kind=_changed(time_sampler=_Independent())),
        "antithetic times": _plain(kind=_changed(time_sampler=_Antithetic())),
        "bfloat16 products": _plain(SpectralSecant(trunk=_Halved(_TRUNK))),
        "secants by alignment": _plain(AlignedSecant(_TRUNK)),
        "mean velocity, learned first": _plain(kind=_LearnedVelocity),
        "mean velocity, exact": _plain(kind=_ExactVelocity),
    }


def _training(steps: int = _STEPS, **settings: Any) -> Training:  # noqa: ANN401 -- of a `Training`
    return Training(steps=steps, patience=None, **settings)


def _plain(
    model: ModelBuilder | None = None,
    *,
    kind: type[SecantRatio] = SecantRatio,
    path: Path | None = None,
    **training: Any,  # noqa: ANN401 -- settings of a `Training`
) -> Make:
    def make(seed: int) -> Ratio:
        return kind(
            SpectralSecant(trunk=_TRUNK) if model is None else model,
            anchor=False,
            scaling=Standardise(),
            path=path,
            training=_training(**training),
            random_state=seed,
        )

    return make


class _LargeBatchesFirst(SecantRatio):
    """Half of the rows in batches four times as large, the other half as usual."""

    def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
        model, objective = self._built(self.builder_, prepared, seed, 0), self._objective(prepared)
        large, usual = _training(_STEPS // 8, batch_size=2048), _training(_STEPS // 2)
        first = run(Stage(model, objective, large), 0)
        return run(Stage(first.model, objective, usual), 1)


def _by(optimiser: Optimiser) -> type[SecantRatio]:
    """`SecantRatio` trained by another rule."""

    class By(SecantRatio):
        def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
            model = self._built(self.builder_, prepared, seed, 0)
            return run(Stage(model, self._objective(prepared), self.training_, optimiser), 0)

    return By


class _Constant(Optimiser):
    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        del rate
        return optax.adam(1e-3)


class _Nesterov(Optimiser):
    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        return optax.nadam(rate)


class _Lion(Optimiser):
    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        return optax.lion(rate)


class _Muon(Optimiser):
    """Orthogonalised momentum for matrices, Adam for the rest."""

    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        return optax.contrib.muon(lambda step: 10.0 * rate(step), adam_learning_rate=rate)


def _changed(**parts: Any) -> type[SecantRatio]:  # noqa: ANN401 -- of an `Objective`
    """`SecantRatio` with other parts of its objective."""

    class Changed(SecantRatio):
        def _objective(self, prepared: Prepared) -> Objective:
            return replace(super()._objective(prepared), **parts)

    return Changed


class _Weighted(Target):
    """(V1) with a weight λ(t)."""

    weight: Callable[[Float[Array, " n"]], Float[Array, " n"]] = eqx.field(static=True)

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        return self.weight(batch.t) * TangentVelocity().losses(model, path, batch)

    def time_range(self, path: Path) -> tuple[float, float]:
        return path.time_range


def _by_importance() -> type[SecantRatio]:
    """Times drawn more often in the middle of the path, and weighted less there: λ stays 1."""
    return _changed(time_sampler=_IMPORTANT, target=_Weighted(_unweighted))


def _unweighted(t: Float[Array, " n"]) -> Float[Array, " n"]:
    """One over the density of the times, up to ten: at the ends it has none."""
    return 1.0 / jnp.maximum(_IMPORTANT.density(t), 0.1)


class _Independent(Uniform):
    """Uniform times that are not stratified."""

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        return jax.random.uniform(key, (n,))


class _Antithetic(Uniform):
    """Each time t together with 1 − t."""

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        half = super().sample(key, n // 2)
        return jnp.concatenate([half, 1.0 - half])


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


class _MeanVelocity(Target):
    """(V1) with v̄(x_t, t) in place of ẋ_t, which takes its conditional noise away (F2)."""

    velocity: VelocityField

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        x_t, _ = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        velocity = self.velocity(x_t, batch.t)
        value, along = jax.jvp(lambda x: model.time_score(x, batch.t), (x_t,), (velocity,))
        return velocity_losses(value, along)

    def time_range(self, path: Path) -> tuple[float, float]:
        return path.time_range


class _ExactVelocity(SecantRatio):
    """With the mean velocity in closed form: all that (F2) can bring."""

    def _objective(self, prepared: Prepared) -> Objective:
        anchor = GaussianMoments().fitted(prepared, self.path_, 0)
        untrained = MeanVelocity().build(prepared.n_features, anchor, key=jax.random.key(0))
        return replace(super()._objective(prepared), target=_MeanVelocity(untrained))


class _LearnedVelocity(SecantRatio):
    """Half of the steps for the mean velocity by flow matching, half for the ratio."""

    def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
        target, half = FlowMatching(), _training(_STEPS // 2)
        untrained = MeanVelocity(_TRUNK).build(prepared.n_features, None, key=jax.random.key(seed))
        pairs = paired_rows(prepared.held_0, prepared.held_1)
        problem = Problem(
            untrained,
            prepared.source,
            Objective(target, self.path_, Uniform(), FullIntervals()),
            HeldOut.drawn(*pairs, self.path_, target, key=jax.random.key(0)),
            half,
            jax.random.key(seed + 1),
        )
        velocity = train(problem, lambda record: None).model
        objective = replace(self._objective(prepared), target=_MeanVelocity(velocity))
        return run(Stage(self._built(self.builder_, prepared, seed, 0), objective, half), 0)
