"""Candidates for the default model of SecantRatio."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from secant.anchoring import AnchorRule
from secant.datasets import (
    block_gaussians,
    mixture_2d,
    mixture_8d,
    narrow_gaussian,
    student_pair,
)
from secant.estimators import (
    ISADRE,
    AdaptiveMargins,
    GaussianMixtures,
    GaussianMoments,
    SecantRatio,
    Standardise,
)
from secant.models import (
    AlignedSecant,
    ModelBuilder,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
)
from secant.paths import DiffusionBridge
from secant.training import Training
from secant_bench.suites.entries import Entry, Make, Suite, by_seed
from secant_bench.suites.shared import CONDITIONAL, mapped_tasks
from secant_bench.tasks import Task

__all__ = ["suite"]

_TRAINING = Training(steps=1_500, patience=None, evaluate_every=500)
_HALF = Training(steps=750, patience=None, evaluate_every=250)


def suite() -> Suite:
    """Every model, with and without anchor and quadratic features, on every kind of task."""
    n = 100_000
    tasks = [Task(block_gaussians(d), n) for d in (2, 40, 160)]
    tasks += mapped_tasks(40, n)
    tasks += [Task(p, n) for p in (mixture_2d(), mixture_8d(), student_pair(), narrow_gaussian(2))]
    entries = [Entry(task, name, make) for name, make in _methods().items() for task in tasks]
    about = "Which model is the default of SecantRatio: one pass, 1,500 steps, width 128."
    return Suite("shoot-out", about, tuple(entries))


def _methods() -> dict[str, Make]:
    methods: dict[str, Make] = {}
    for anchor, quadratic in product((False, GaussianMoments()), (False, True)):
        parts: dict[str, Any] = {"anchor": anchor, "quadratic": quadratic}
        tail = " + anchor" * bool(anchor) + " + quadratic" * quadratic
        for name, model in (("spectral", _spectral), ("aligned V2", _aligned)):
            methods[name + tail] = by_seed(partial(_velocity, model, **parts))
        methods["distilled" + tail] = by_seed(partial(_velocity, _tangent, distilled=True, **parts))
        methods["aligned L1" + tail] = by_seed(partial(_conditional, **parts))
    parts = {"anchor": GaussianMixtures(), "margins": True}
    tail = " + mixture anchor + margins"
    methods["spectral" + tail] = by_seed(partial(_velocity, _spectral, **parts))
    methods["distilled" + tail] = by_seed(partial(_velocity, _tangent, distilled=True, **parts))
    return methods


def _velocity(
    model: Callable[[ResidualMLP], ModelBuilder],
    *,
    anchor: bool | AnchorRule,
    seed: int,
    quadratic: bool = False,
    distilled: bool = False,
    margins: bool = False,
) -> SecantRatio:
    trunk = ResidualMLP(128, depth=2, quadratic=quadratic)
    return SecantRatio(
        model(trunk),
        student=SpectralSecant(trunk=trunk) if distilled else None,
        anchor=anchor,
        scaling=AdaptiveMargins() if margins else Standardise(),
        training=_HALF if distilled else _TRAINING,
        random_state=seed,
    )


def _conditional(*, anchor: bool | AnchorRule, quadratic: bool, seed: int) -> ISADRE:
    return ISADRE(
        AlignedSecant(ResidualMLP(128, depth=2, quadratic=quadratic), vectorised=True),
        path=DiffusionBridge(),
        **CONDITIONAL,
        anchor=anchor,
        n_steps=1,
        training=_TRAINING,
        random_state=seed,
    )


def _spectral(trunk: ResidualMLP) -> SpectralSecant:
    return SpectralSecant(trunk=trunk)


def _tangent(trunk: ResidualMLP) -> TangentNetwork:
    return TangentNetwork(trunk)


def _aligned(trunk: ResidualMLP) -> AlignedSecant:
    return AlignedSecant(trunk)
