"""Every method of the library, with the same budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from secant.datasets import block_gaussians, gaussian_pair
from secant.estimators import (
    CTSM,
    D3RE,
    ISADRE,
    TRE,
    ClassifierRatio,
    DREInfinity,
    FeaturisedRatio,
    KernelRatio,
    RatioEstimator,
    SecantRatio,
    SklearnRatio,
    StagedRatio,
)
from secant.models import (
    AlignedSecant,
    JointScoreNetwork,
    ModulatedMLP,
    QuadraticForms,
    ResidualMLP,
    RidgeFunctions,
    SpectralSecant,
    TangentNetwork,
    TelescopingHeads,
)
from secant.targets import DimensionMixing, GeodesicMixing, Trimmed
from secant.training import OptimalTransport, Training
from secant_bench.suites.entries import ITS_OWN, Entry, Make, Suite, by_random_state
from secant_bench.tasks import Task

__all__ = ["methods", "suite"]

_TRAINING = Training(steps=2_000, patience=None, evaluate_every=500)


def suite() -> Suite:
    """Gaussian pairs from 1 to 160 dimensions, each method with its own integration rule."""
    n = 50_000
    one = gaussian_pair(np.zeros(1), np.eye(1), np.ones(1), 0.5 * np.eye(1))
    pairs = (one, *(block_gaussians(d) for d in (2, 10, 40, 160)))
    entries = [
        Entry(Task(pair, n), name, make, ITS_OWN)
        for pair in pairs
        for name, make in methods(_TRAINING).items()
    ]
    about = "Every method on Gaussian pairs from 1 to 160 dimensions: same trunk, budget and rows."
    return Suite("baselines", about, tuple(entries))


def methods(training: Training) -> dict[str, Make]:
    """Every method with the same trunk and budget, and otherwise default settings."""
    trunk = ResidualMLP(128, depth=2)
    tangent, vectorised = TangentNetwork(trunk), TangentNetwork(trunk, vectorised=True)
    joint, heads = JointScoreNetwork(trunk), TelescopingHeads(8, trunk)
    aligned = AlignedSecant(ModulatedMLP(128, depth=2), order=8)
    neural: dict[str, Callable[..., RatioEstimator]] = {
        "SecantRatio": partial(SecantRatio, SpectralSecant(trunk=trunk)),
        "SecantRatio, no anchor": partial(SecantRatio, SpectralSecant(trunk=trunk), anchor=False),
        "ISADRE": partial(ISADRE, aligned),
        "DREInfinity": partial(DREInfinity, tangent),
        "DREInfinity, joint": partial(DREInfinity, joint, joint=True),
        "D3RE": partial(D3RE, tangent),
        "D3RE, optimal transport": partial(D3RE, tangent, pairing=OptimalTransport(iterations=20)),
        "CTSM": partial(CTSM, tangent, vectorised=False),
        "CTSM-v": partial(CTSM, vectorised),
        "TRE": partial(TRE, heads),
        "TRE, dimension mixing": partial(TRE, heads, waymarks=DimensionMixing()),
        "TRE, mixtures": partial(TRE, heads, waymarks=GeodesicMixing()),
        "TRE, oracle form": partial(TRE, TelescopingHeads(8, QuadraticForms())),
    }
    for loss in ("nce", "infonce", "kulsif", "hellinger", "kl", "gamma", "ew", "pw", "dv"):
        neural[f"ClassifierRatio, {loss}"] = partial(ClassifierRatio, loss, trunk=trunk)
    neural["ClassifierRatio, trimmed"] = partial(ClassifierRatio, Trimmed(), trunk=trunk)
    neural["ClassifierRatio, ridge functions"] = partial(ClassifierRatio, trunk=RidgeFunctions(32))
    made = {
        name: by_random_state(partial(make, training=training)) for name, make in neural.items()
    }
    stage = ClassifierRatio(trunk=trunk, training=training)
    made["StagedRatio"] = by_random_state(partial(StagedRatio, stage))
    features = SecantRatio(SpectralSecant(trunk=trunk), anchor=False, training=training)
    made["FeaturisedRatio"] = by_random_state(partial(FeaturisedRatio, features))
    for method in ("ulsif", "rulsif", "kliep", "kulsif", "logistic"):
        made[f"KernelRatio, {method}"] = by_random_state(partial(KernelRatio, method))
    made["SklearnRatio, default"] = by_random_state(SklearnRatio)
    made["SklearnRatio, boosted trees"] = by_random_state(
        partial(SklearnRatio, HistGradientBoostingClassifier())
    )
    return made
