"""Laws of every public estimator: depth of inheritance, and the use of its parts."""

import inspect
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, KFold
from tests import registry, tiny
from tests.fabricated import without_training

import secant
from secant import AdaptiveMargins, GaussianMoments, OptimalTransport, Standardise, fitting
from secant.curricula import SecantTangentShare
from secant.fitting import Method
from secant.integration import GaussLegendre
from secant.models import (
    AlignedSecant,
    ModulatedMLP,
    ResidualMLP,
    SpectralSecant,
    TelescopingHeads,
)
from secant.models.velocity import MeanVelocity
from secant.paths import DiffusionBridge, DiffusionInterpolant
from secant.schedules import Linear
from secant.targets import DimensionMixing, SecantVelocity, TangentVelocity
from secant.targets.time_score_matching import ConstantWeight
from secant.time_samplers import LogitNormal
from secant.training import Adam

PUBLIC = {
    name: found
    for name, found in ((name, getattr(secant, name)) for name in secant.__all__)
    if inspect.isclass(found) and issubclass(found, BaseEstimator)
}


@pytest.mark.parametrize("name", PUBLIC)
def test_at_most_two_levels_below_scikit_learns(name):
    levels = [c for c in PUBLIC[name].__mro__ if issubclass(c, BaseEstimator)]
    assert levels[-1] is BaseEstimator
    assert len(levels) - 1 <= 2, levels


@pytest.mark.parametrize("name", PUBLIC)
def test_no_public_estimator_is_the_base_of_another(name):
    assert [n for n, c in PUBLIC.items() if issubclass(c, PUBLIC[name])] == [name]


# Estimators that train a network, as small as possible.
TRAINED = {
    "SecantRatio": partial(registry.new, "secant ratio, no anchor"),
    "ISADRE": partial(registry.new, "ISA-DRE"),
    "CTSM": partial(registry.new, "CTSM-v"),
    "DREInfinity": partial(registry.new, "DRE-∞"),
    "D3RE": partial(registry.new, "D3RE"),
    "TRE": partial(registry.new, "TRE"),
    "ClassifierRatio": partial(registry.new, "classifier, nce"),
    "PathEntropy": lambda **settings: secant.PathEntropy(
        **({"model": MeanVelocity(tiny.TRUNK), "training": tiny.TRAINING} | settings)
    ),
}


def test_every_public_estimator_that_trains_a_network_is_here():
    assert set(TRAINED) == {name for name, found in PUBLIC.items() if hasattr(found, "_method")}


# Parameters that are plain values, and for every other a part that is not the default.
PLAIN = {"loss", "frame", "n_steps", "vectorised", "joint", "progress", "random_state"}
PARTS = {
    "model": SpectralSecant(order=3, trunk=tiny.TRUNK),
    ("ISADRE", "model"): AlignedSecant(ModulatedMLP(width=6, depth=1), order=3),
    ("CTSM", "model"): registry.new("CTSM-v", trunk=ResidualMLP(width=6, depth=0)).model,
    ("DREInfinity", "model"): registry.new("DRE-∞", trunk=ResidualMLP(width=6, depth=0)).model,
    ("D3RE", "model"): registry.new("DRE-∞", trunk=ResidualMLP(width=6, depth=0)).model,
    ("TRE", "model"): TelescopingHeads(3, tiny.TRUNK),
    ("PathEntropy", "model"): MeanVelocity(ResidualMLP(width=6, depth=0)),
    "student": SpectralSecant(order=1, trunk=tiny.TRUNK),
    "trunk": ResidualMLP(width=6, depth=0),
    "path": DiffusionBridge(gamma=0.3),
    ("TRE", "path"): DiffusionInterpolant(Linear()),
    "target": TangentVelocity(),
    ("ISADRE", "target"): SecantVelocity(),
    "time_sampler": LogitNormal(),
    "curriculum": SecantTangentShare(0.2),
    "anchor": GaussianMoments(),
    "scaling": AdaptiveMargins(),
    ("SecantRatio", "scaling"): Standardise(),
    "rule": GaussLegendre(2),
    "optimiser": Adam(),
    "training": secant.Training(steps=3, batch_size=tiny.BATCH),
    "pairing": OptimalTransport(iterations=2),
    "weight": ConstantWeight(),
    "waymarks": DimensionMixing(),
}
GIVEN = [
    (kind, name)
    for kind in TRAINED
    for name in inspect.signature(PUBLIC[kind].__init__).parameters
    if name not in {"self", *PLAIN}
]


@pytest.fixture(scope="module")
def samples():
    return tiny.samples()


@pytest.mark.parametrize(("kind", "name"), GIVEN)
def test_a_word_for_a_part_is_refused_before_anything_is_trained(kind, name, samples, monkeypatch):
    monkeypatch.setattr(fitting, "train", None)
    with pytest.raises(TypeError, match=f"`{name}` must be .*; got 'a word'"):
        TRAINED[kind](**{name: "a word"}).fit_samples(*samples)


def part_of(kind, name):
    return PARTS.get((kind, name), PARTS.get(name))


FOLDS = KFold(2, shuffle=True, random_state=0)
RESOLVED = {"model": "builder_", "scaling": "scaling_rule_"}


@pytest.mark.parametrize(("kind", "name"), GIVEN)
def test_a_part_survives_clones_and_searches(kind, name, samples):
    part = part_of(kind, name)
    estimator = clone(TRAINED[kind]().set_params(**{name: part}))
    assert estimator.get_params()[name] == part
    assert clone(estimator).get_params() == estimator.get_params()
    if kind == "PathEntropy":  # which has no y to search by
        return
    search = GridSearchCV(TRAINED[kind](), {name: [part]}, cv=FOLDS, error_score="raise")
    with without_training():
        best = search.fit(samples.X, samples.y).best_estimator_
    assert best.get_params()[name] == part
    if name in {f.name for f in fields(Method)}:
        assert getattr(best, RESOLVED.get(name, f"{name}_")) == part
    assert np.isfinite(best.log_ratio(samples.x_0)).all()
