"""Every schedule, path, sampler, curriculum, model and target: one line each.

A new class is one more line here, and is then tested against every law of its kind.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from tests.laws.oracle import moments

from secant.curricula import (
    ContractionIntervalAnnealing,
    Curriculum,
    FullIntervals,
    SecantTangentShare,
)
from secant.models import (
    AlignedSecant,
    Anchor,
    Anchored,
    GaussianAnchor,
    JointScoreNetwork,
    MixtureAnchor,
    ModelBuilder,
    ModulatedMLP,
    QuadraticForms,
    ResidualMLP,
    RidgeFunctions,
    SpectralSecant,
    TangentNetwork,
    TelescopingHeads,
)
from secant.paths import DiffusionBridge, DiffusionInterpolant, Path
from secant.schedules import Cosine, Foellmer, Linear, Trigonometric, VariancePreserving
from secant.targets import (
    ConditionalSecantAlignment,
    ConditionalTimeScore,
    ConstantWeight,
    DonskerVaradhan,
    ExponentialWeight,
    FadingWeight,
    GammaDivergence,
    Hellinger,
    ImpliedVelocity,
    InfoNCE,
    KullbackLeibler,
    Logistic,
    PolynomialWeight,
    SecantVelocity,
    SquaredRatio,
    TangentVelocity,
    TimeScoreMatching,
    Trimmed,
)
from secant.time_samplers import Corners, LogitNormal, Uniform, VarianceImportance

SCHEDULES = {
    "linear": Linear(),
    "trigonometric": Trigonometric(),
    "foellmer": Foellmer(),
    "variance preserving": VariancePreserving(),
    "cosine": Cosine(),
}

PATHS = {
    "interpolant": DiffusionInterpolant,
    "bridge": lambda schedule: DiffusionBridge(schedule, gamma=0.5, epsilon=0.1),
}

TIME_SAMPLERS = {
    "uniform": lambda: Uniform(),
    "logit-normal": lambda: LogitNormal(),
    "narrow logit-normal": lambda: LogitNormal(mean=1.0, scale=0.5),
    "variance importance": lambda: VarianceImportance().resolved(
        lambda t: 0.1 + jnp.sin(4 * t) ** 2
    ),
    "corners": lambda: Corners(LogitNormal(), start=0.4),
    "all corners": lambda: Corners(start=0.2, end=0.3, whole=0.1),
}

CURRICULA: dict[str, Curriculum] = {
    "full intervals": FullIntervals(),
    "annealing": ContractionIntervalAnnealing(),
    "slow annealing": ContractionIntervalAnnealing(anneal_share=1.0),
    "tangent share": SecantTangentShare(),
}


class Model(NamedTuple):
    """A builder and how exactly its secants add over intervals (None: not at all)."""

    builder: ModelBuilder
    additive_to: float | None
    anchor: Callable[[int, Path], Anchor] | None = None


# The mean of each target is minimised by the truth. Built from an oracle because
# the conditional target's weight needs the moments of the samples.
PATH_TARGETS = {
    "tangent velocity": lambda _: TangentVelocity(),
    "implied velocity": lambda _: ImpliedVelocity(),
    "implied velocity, weighted": lambda truth: ImpliedVelocity(moments(truth)),
    "secant velocity": lambda _: SecantVelocity(),
    "secant velocity, full gradient": lambda _: SecantVelocity(stop_gradient=False),
    "secant velocity, consistent": lambda _: SecantVelocity(stop_gradient=False, consistency=1.0),
    "secant velocity, spatial": lambda _: SecantVelocity(stop_gradient=False, spatial=1.0),
    "conditional": lambda truth: ConditionalSecantAlignment(moments(truth)),
    "conditional, vectorised": lambda truth: ConditionalSecantAlignment(
        moments(truth), vectorised=True
    ),
    "conditional tangent": lambda truth: ConditionalTimeScore(moments(truth)),
    "conditional tangent, vectorised": lambda truth: ConditionalTimeScore(
        moments(truth), vectorised=True
    ),
    "time-score matching": lambda _: TimeScoreMatching(ConstantWeight()),
    "time-score matching, fading": lambda _: TimeScoreMatching(FadingWeight()),
}

DIRECT_TARGETS = {
    "logistic": lambda _: Logistic(),
    "logistic, K = 3": lambda _: Logistic(noise_ratio=3.0),
    "squared ratio": lambda _: SquaredRatio(),
    "kl": lambda _: KullbackLeibler(),
    "hellinger": lambda _: Hellinger(),
    "exponential weight": lambda _: ExponentialWeight(),
    "polynomial weight": lambda _: PolynomialWeight(),
    "gamma": lambda _: GammaDivergence(gamma=0.1),
    "infonce": lambda _: InfoNCE(),
    "donsker-varadhan": lambda _: DonskerVaradhan(),
    "trimmed": lambda _: Trimmed(share=0.1),
    "trimmed, logistic": lambda _: Trimmed(Logistic(), share=0.3),
}


def randomised(builder, *sizes, seed=0, scale=0.4):
    """A model with random numbers in all arrays: heads start at zero and would hide errors.

    Only shapes are built, so nothing is compiled.
    """
    rng = np.random.default_rng(seed)
    skeleton = eqx.filter_eval_shape(builder.build, *sizes, key=jax.random.key(0))
    return jax.tree.map(
        lambda leaf: (
            jnp.asarray(scale * rng.standard_normal(leaf.shape))
            if isinstance(leaf, jax.ShapeDtypeStruct)
            else leaf
        ),
        skeleton,
    )


def anchor(n_features, path, seed=5):
    """A Gaussian anchor with correlated, unequal ends."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, n_features, n_features))
    eye = np.eye(n_features)
    means = rng.standard_normal((2, n_features))
    return GaussianAnchor.fitted(means[0], a @ a.T + eye, means[1], b @ b.T + eye, path)


def mixture_anchor(n_features, path):
    """Two Gaussian paths, mixed."""
    pairs = [anchor(n_features, path, seed) for seed in (5, 6)]
    return MixtureAnchor.of(pairs, np.array([0.3, 0.7]))


TRUNK = ResidualMLP(width=6, depth=1)
# float64 rounding; a tangent network adds as well as so many Gauss nodes integrate its waves.
ROUNDING, NODES, QUADRATURE = 1e-12, 6, 1e-4

MODELS = {
    "spectral": Model(SpectralSecant(5, TRUNK), ROUNDING),
    "spectral, order 1": Model(SpectralSecant(1, TRUNK), ROUNDING),
    "spectral, quadratic": Model(SpectralSecant(4, ResidualMLP(6, 1, quadratic=True)), ROUNDING),
    "tangent": Model(TangentNetwork(TRUNK, n_nodes=NODES), QUADRATURE),
    "tangent, vectorised": Model(TangentNetwork(TRUNK, n_nodes=NODES, vectorised=True), QUADRATURE),
    "joint": Model(JointScoreNetwork(TRUNK, n_nodes=NODES), QUADRATURE),
    "telescoping": Model(TelescopingHeads(3, TRUNK), ROUNDING),
    "telescoping, quadratic forms": Model(TelescopingHeads(2, QuadraticForms()), ROUNDING),
    "spectral, ridge functions": Model(SpectralSecant(3, RidgeFunctions(2, 4)), ROUNDING),
    "aligned": Model(AlignedSecant(TRUNK), None),
    "aligned, vectorised": Model(AlignedSecant(TRUNK, vectorised=True), None),
    "aligned, modulated": Model(AlignedSecant(ModulatedMLP(6, 1), order=4), None),
    "aligned, modulated, vectorised": Model(
        AlignedSecant(ModulatedMLP(6, 2), order=4, vectorised=True), None
    ),
    "tangent, modulated": Model(TangentNetwork(ModulatedMLP(6, 1), n_nodes=NODES), QUADRATURE),
    "anchored spectral": Model(SpectralSecant(5, TRUNK), ROUNDING, anchor),
    "mixture-anchored aligned": Model(AlignedSecant(TRUNK, vectorised=True), None, mixture_anchor),
}


def build(entry, n_features):
    """A model of the registry with random weights."""
    model = randomised(entry.builder, n_features)
    if entry.anchor is None:
        return model
    return Anchored(entry.anchor(n_features, DiffusionInterpolant()), model)
