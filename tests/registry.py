"""Every ratio estimator by name: a new one is one more line, and is tested against every law.

An entry makes an unfitted estimator, as small as `tests.tiny` unless a test asks for other settings
of the same parts. Tags say what kind it is:

    path        learned along a path, so it has secants and time scores
    direct      trained by a loss between the samples
    closed      no network is trained
    switch      chooses among others
    no file     cannot be saved
    one-sided   its path begins in N(0, I): the samples cannot be exchanged
"""

from collections.abc import Callable
from types import FunctionType
from typing import NamedTuple

import pytest
from sklearn.ensemble import RandomForestClassifier
from tests import tiny

from secant import (
    CTSM,
    D3RE,
    ISADRE,
    TRE,
    BootstrapRatio,
    ChasmSwitch,
    ClassifierRatio,
    DREInfinity,
    FeaturisedRatio,
    GaussianMixtures,
    Identity,
    IsotonicRatio,
    KernelRatio,
    OptimalTransport,
    SecantRatio,
    SignedRatio,
    SklearnRatio,
    StagedRatio,
    Standardise,
)
from secant.anchoring import GaussianMoments
from secant.curricula import SecantTangentShare
from secant.models import (
    AlignedSecant,
    FourierMLP,
    JointScoreNetwork,
    ModulatedMLP,
    QuadraticForms,
    RidgeFunctions,
    SpectralSecant,
    TangentNetwork,
    TelescopingHeads,
)
from secant.paths import DiffusionInterpolant
from secant.targets import (
    ConditionalSecantAlignment,
    DimensionMixing,
    GeodesicMixing,
    SecantVelocity,
    Trimmed,
)
from secant.time_samplers import Uniform

LOSSES = ("nce", "infonce", "kulsif", "hellinger", "kl", "gamma", "ew", "pw", "dv")
KERNELS = ("ulsif", "rulsif", "kliep", "kulsif", "logistic")


class Entry(NamedTuple):
    """How to make one, from a trunk and settings, and what it is."""

    make: Callable
    tags: frozenset


def _network(kind, *tags, **parts):
    """An estimator that trains a network: parts that need the trunk are functions of it."""

    def make(trunk=tiny.TRUNK, **settings):
        own = {n: p(trunk) if isinstance(p, FunctionType) else p for n, p in parts.items()}
        common = {"training": tiny.TRAINING, "random_state": 0}
        return kind(**(common | own | settings))

    return Entry(make, frozenset(tags))


def _closed(kind, *tags, **parts):
    def make(trunk=None, **settings):
        del trunk
        return kind(**({"random_state": 0} | parts | settings))

    return Entry(make, frozenset({"closed", *tags}))


def _spectral(trunk):
    return SpectralSecant(order=2, trunk=trunk)


def _tangent(trunk):
    return TangentNetwork(trunk, n_nodes=2)


def _vectorised(trunk):
    return TangentNetwork(trunk, n_nodes=2, vectorised=True)


def _free(trunk):
    return AlignedSecant(trunk)


def _aligned(trunk):
    return AlignedSecant(trunk, vectorised=True)


def _modulated(trunk):
    return AlignedSecant(ModulatedMLP(trunk.width, depth=1), order=3)


def _joint(trunk):
    return JointScoreNetwork(trunk, n_nodes=2)


def _trunk(trunk):
    return trunk


def _waves(trunk):
    return FourierMLP(width=trunk.width, depth=0, n_waves=3)


ESTIMATORS = {
    "secant ratio": _network(SecantRatio, "path", model=_spectral, anchor=GaussianMoments()),
    "secant ratio, mixture anchor": _network(
        SecantRatio, "path", model=_spectral, anchor=GaussianMixtures(min_gain=-1.0)
    ),
    "secant ratio, no anchor": _network(
        SecantRatio, "path", model=_spectral, anchor=False, scaling=Standardise()
    ),
    "secant ratio, student": _network(SecantRatio, "path", model=_tangent, student=_spectral),
    "secant ratio, aligned": _network(SecantRatio, "path", model=_free, anchor=False),
    "ISA-DRE": _network(ISADRE, "path", model=_modulated, n_steps=2),
    "ISA-DRE, conditional": _network(
        ISADRE, "path", model=_aligned, target=ConditionalSecantAlignment(vectorised=True)
    ),
    "ISA-DRE, STS": _network(
        ISADRE,
        "path",
        model=_free,
        target=SecantVelocity(),
        time_sampler=Uniform(),
        curriculum=SecantTangentShare(),
    ),
    "DRE-∞": _network(DREInfinity, "path", model=_tangent),
    "DRE-∞, joint": _network(DREInfinity, "path", model=_joint, joint=True),
    "D3RE": _network(D3RE, "path", model=_tangent),
    "D3RE, optimal transport": _network(
        D3RE, "path", model=_tangent, pairing=OptimalTransport(iterations=3)
    ),
    "CTSM": _network(CTSM, "path", model=_tangent, vectorised=False),
    "CTSM-v": _network(CTSM, "path", model=_vectorised),
    "CTSM-v, one-sided": _network(
        CTSM,
        "path",
        "one-sided",
        model=_vectorised,
        path=DiffusionInterpolant(),
        scaling=Identity(),
    ),
    "TRE": _network(TRE, "path", model=lambda trunk: TelescopingHeads(2, trunk)),
    "TRE, dimension mixing": _network(
        TRE,
        "path",
        model=lambda trunk: TelescopingHeads(2, trunk),
        waymarks=DimensionMixing(),
    ),
    "TRE, mixtures": _network(
        TRE, "path", model=lambda trunk: TelescopingHeads(2, trunk), waymarks=GeodesicMixing()
    ),
    "TRE, geodesic": _network(
        TRE, "path", model=lambda trunk: TelescopingHeads(2, trunk), waymarks=GeodesicMixing(0.5)
    ),
    "TRE, quadratic forms": _network(
        TRE, "path", model=lambda _: TelescopingHeads(2, QuadraticForms())
    ),
    **{
        f"classifier, {loss}": _network(ClassifierRatio, "direct", loss=loss, trunk=_trunk)
        for loss in LOSSES
    },
    "classifier, trimmed": _network(ClassifierRatio, "direct", loss=Trimmed(), trunk=_trunk),
    "classifier, ridge functions": _network(
        ClassifierRatio, "direct", loss="kl", trunk=RidgeFunctions(n_terms=3, width=8)
    ),
    "classifier, waves": _network(ClassifierRatio, "direct", trunk=_waves),
    **{
        f"kernel, {method}": _closed(KernelRatio, method=method, n_centers=10) for method in KERNELS
    },
    "kernel, lepskii": _closed(KernelRatio, method="kulsif", n_centers=10, selection="lepskii"),
    "kernel, flow": _closed(KernelRatio, n_centers=10, regularisation="flow"),
    "staged kernels": _closed(StagedRatio, estimator=KernelRatio(n_centers=10), n_stages=2),
    "signed kernels": _closed(SignedRatio, estimator=KernelRatio(n_centers=10)),
    "calibrated kernels": _closed(IsotonicRatio, estimator=KernelRatio(n_centers=10), folds=2),
    "bootstrapped kernels": _closed(
        BootstrapRatio, estimator=KernelRatio(n_centers=10), n_members=2
    ),
    "featurised kernels": _closed(
        FeaturisedRatio,
        "no file",
        estimator=KernelRatio(n_centers=10),
        n_layers=2,
        width=8,
        max_epochs=3,
    ),
    "scikit-learn": _closed(SklearnRatio, "no file"),
    "scikit-learn, forest": _closed(
        SklearnRatio,
        "no file",
        classifier=RandomForestClassifier(3),
        calibration="sigmoid",
        folds=None,
    ),
    "switch of kernels": _closed(
        ChasmSwitch,
        "switch",
        near=KernelRatio(n_centers=10),
        far=KernelRatio("kliep", n_centers=10),
    ),
}


def _switch(make_near, make_far, **parts):
    def make(trunk=tiny.TRUNK, **settings):
        near, far = (m(trunk=trunk, random_state=None) for m in (make_near, make_far))
        return ChasmSwitch(near, far, **({"random_state": 0} | parts | settings))

    return Entry(make, frozenset({"switch"}))


ESTIMATORS |= {
    "switch": _switch(ESTIMATORS["classifier, nce"].make, ESTIMATORS["secant ratio"].make),
    "switch to far": _switch(
        ESTIMATORS["kernel, ulsif"].make, ESTIMATORS["secant ratio"].make, threshold=-9.0
    ),
}


def new(name, **settings):
    """An unfitted estimator by its name."""
    return ESTIMATORS[name].make(**settings)


def named(*tags, without=()):
    """The names of those with all of these tags, and none of the others."""
    return [
        name
        for name, entry in ESTIMATORS.items()
        if entry.tags >= set(tags) and not entry.tags & set(without)
    ]


def slow_but_for(*quick, names=tuple(ESTIMATORS)):
    """Parameters of a law: all estimators, most of them in the slow tests: each needs a fit."""
    assert set(quick) <= set(names)
    return [n if n in quick else pytest.param(n, marks=pytest.mark.slow) for n in names]
