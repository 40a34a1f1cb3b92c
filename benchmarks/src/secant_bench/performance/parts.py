"""Ablation of our training: one part changed at a time, with the same number of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from secant.datasets import block_gaussians
from secant.estimators import GaussianMoments, SecantRatio, Standardise
from secant.fitting import Fitted, Method, evaluated, fit
from secant.models import AlignedSecant, ResidualMLP, SpectralSecant
from secant.models.networks import Trunk, TrunkBuilder
from secant.models.secant_function import ModelBuilder, SecantFunction
from secant.models.velocity import MeanVelocity, VelocityField
from secant.paths import DiffusionInterpolant, Path
from secant.samples import Sample, Sampler, Samples
from secant.schedules import Foellmer, Linear
from secant.targets.batch import Batch, Target
from secant.targets.flow_matching import FlowMatching
from secant.targets.velocity import TangentVelocity, velocity_losses
from secant.time_samplers import LogitNormal, Uniform
from secant.training import Optimiser, Training
from secant_bench.suites.entries import ONE_PASS, Entry, Make, Suite
from secant_bench.tasks import Ratio, Task

__all__ = ["PLAIN", "parts"]

PLAIN = "no anchor"  # the others differ from it in one part
_TRUNK = ResidualMLP(256)
_STEPS = 1_000
_IMPORTANT = LogitNormal(0.0, 1.0)
_METHOD = Method(SpectralSecant(trunk=_TRUNK), DiffusionInterpolant(), TangentVelocity())


def parts() -> Suite:
    """Ten nats in 40 dimensions, without the anchor, which would be exact; 512,000 rows each."""
    task = Task(block_gaussians(40))
    entries = tuple(Entry(task, name, make, ONE_PASS) for name, make in _variants().items())
    about = "the effect of each part of the training on error and seconds"
    return Suite("performance-parts", about, entries, alone=True)


def _variants() -> dict[str, Make]:
    return {
        "as it comes": lambda seed: SecantRatio(training=_training(), random_state=seed),
        PLAIN: _plain(),
        "quadratic features": _plain(SpectralSecant(trunk=ResidualMLP(256, quadratic=True))),
        "batches of 128": _plain(batch_size=128, steps=4 * _STEPS),
        "batches of 2048": _plain(batch_size=2048, steps=_STEPS // 4),
        "batches of 2048, then of 512": _large_batches_first,
        "learning rate × 3": _plain(learning_rate=3e-3),
        "learning rate ÷ 3": _plain(learning_rate=3e-4),
        "learning rate without decay": _plain(optimiser=_Constant()),
        "Adam with Nesterov's momentum": _plain(optimiser=_Nesterov()),
        "Lion, learning rate ÷ 3": _plain(optimiser=_Lion(), learning_rate=3e-4),
        "Muon": _plain(optimiser=_Muon()),
        "no averaging": _plain(average=0.0),
        "Föllmer's path": _plain(path=DiffusionInterpolant(Foellmer())),
        "straight path": _plain(path=DiffusionInterpolant(Linear())),
        "λ = 1 − t²": _plain(target=_Weighted(lambda t: 1.0 - t**2)),
        "times by importance": _plain(time_sampler=_IMPORTANT, target=_Weighted(_unweighted)),
        "times not stratified": _plain(time_sampler=_Independent()),
        "antithetic times": _plain(time_sampler=_Antithetic()),
        "bfloat16 products": _plain(SpectralSecant(trunk=_Halved(_TRUNK))),
        "secants by alignment": _plain(AlignedSecant(_TRUNK)),
        "mean velocity, learned first": _velocity_learned_first,
        "mean velocity, exact": _velocity_exact,
    }


def _training(steps: int = _STEPS, **settings: Any) -> Training:  # noqa: ANN401 -- of a `Training`
    return Training(steps=steps, patience=None, **settings)


def _plain(
    model: ModelBuilder | None = None,
    *,
    batch_size: int = 512,
    steps: int = _STEPS,
    learning_rate: float = 1e-3,
    average: float = 0.999,
    **parts: Any,  # noqa: ANN401 -- of a `SecantRatio`
) -> Make:
    training = _training(steps, batch_size=batch_size, learning_rate=learning_rate, average=average)

    def make(seed: int) -> Ratio:
        return SecantRatio(
            SpectralSecant(trunk=_TRUNK) if model is None else model,
            anchor=False,
            scaling=Standardise(),
            training=training,
            random_state=seed,
            **parts,
        )

    return make


class _Staged:
    """Two consecutive fits, each on half of the rows; the second uses a result of the first."""

    def __init__(self, first: Method, second: Callable[[Fitted], Method], seed: int) -> None:
        self.first, self.second, self.seed = first, second, seed

    def fit_samples(self, x_0: np.ndarray, x_1: np.ndarray) -> Self:
        return self._fitted((Sample(x_0), Sample(x_1)))

    def fit_sampler(self, sampler: Sampler) -> Self:
        return self._fitted(sampler)

    def _fitted(self, samples: Samples) -> Self:
        first = fit(self.first, samples, self.seed)
        self.fitted_ = fit(self.second(first), samples, self.seed)
        self.diagnostics_ = self.fitted_.diagnostics
        return self

    def log_ratio(self, X: np.ndarray) -> np.ndarray:
        found = self.fitted_
        assert found.rule is not None
        return np.asarray(evaluated(found.model, X, found.rule, scaling=found.scaling).value)


def _large_batches_first(seed: int) -> Ratio:
    """Half of the rows in batches four times as large, the other half as usual."""
    first = replace(_METHOD, training=_training(_STEPS // 8, batch_size=2048))
    half = replace(_METHOD, training=_training(_STEPS // 2))
    return _Staged(first, lambda found: replace(half, model=_Trained(found.model)), seed)


def _velocity_learned_first(seed: int) -> Ratio:
    """Half of the steps for the mean velocity by flow matching, half for the ratio."""
    half = replace(_METHOD, training=_training(_STEPS // 2))
    first = replace(half, model=MeanVelocity(_TRUNK), target=FlowMatching(), rule=None)
    return _Staged(first, lambda found: replace(half, target=_MeanVelocity(found.model)), seed)


def _velocity_exact(seed: int) -> Ratio:
    """With the mean velocity in closed form, an upper limit of the gain by (F2).

    This is the anchored field before training, when its network is 0.
    """
    untrained = MeanVelocity(_TRUNK)
    first = replace(
        _METHOD,
        model=untrained,
        target=FlowMatching(),
        anchor=GaussianMoments(),
        rule=None,
        training=_training(1, learning_rate=1e-30),
    )
    return _Staged(first, lambda found: replace(_METHOD, target=_MeanVelocity(found.model)), seed)


class _Trained(ModelBuilder):
    """A builder that returns a trained model, to continue its training."""

    model: SecantFunction

    def build(self, n_features: int, *, key: PRNGKeyArray) -> SecantFunction:
        del n_features, key
        return self.model


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
    """Orthogonalised momentum for matrices, Adam for other weights."""

    def at(self, rate: optax.Schedule) -> optax.GradientTransformation:
        return optax.contrib.muon(lambda step: 10.0 * rate(step), adam_learning_rate=rate)


class _Weighted(Target):
    """(V1) with a weight λ(t)."""

    weight: Callable[[Float[Array, " n"]], Float[Array, " n"]] = eqx.field(static=True)

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        return self.weight(batch.t) * TangentVelocity().losses(model, path, batch)

    def time_range(self, path: Path) -> tuple[float, float]:
        return path.time_range


def _unweighted(t: Float[Array, " n"]) -> Float[Array, " n"]:
    """One over the density of the times, at most ten, because the density is 0 at the ends."""
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
    """(V1) with v̄(x_t, t) in place of ẋ_t, which removes its conditional noise (F2)."""

    velocity: VelocityField

    def losses(self, model: SecantFunction, path: Path, batch: Batch) -> Float[Array, " n"]:
        x_t, _ = path.point(batch.x_0, batch.x_1, batch.z, batch.t)
        velocity = self.velocity(x_t, batch.t)
        value, along = jax.jvp(lambda x: model.time_score(x, batch.t), (x_t,), (velocity,))
        return velocity_losses(value, along)

    def time_range(self, path: Path) -> tuple[float, float]:
        return path.time_range
