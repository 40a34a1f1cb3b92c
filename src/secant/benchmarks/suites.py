"""Suites: versioned lists of what is run on what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from secant.benchmarks.tasks import Task
from secant.curricula import (
    ContractionIntervalAnnealing,
    Curriculum,
    SecantTangentShare,
)
from secant.datasets import (
    Pair,
    additive_noise,
    asinh,
    block_gaussians,
    gaussian_pair,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    mixture_2d,
    mixture_8d,
    narrow_gaussian,
    student_pair,
    through,
)
from secant.estimators import (
    CTSM,
    D3RE,
    ISADRE,
    TRE,
    AdaptiveMargins,
    ClassifierRatio,
    DREInfinity,
    GaussianMixtures,
    GaussianMoments,
    Identity,
    KernelRatio,
    RatioEstimator,
    SecantRatio,
    SklearnRatio,
    Standardise,
)
from secant.estimators.anchoring import AnchorRule
from secant.estimators.scaling import ScalingRule
from secant.integration import Rule, SecantSteps
from secant.models import (
    AlignedSecant,
    JointScoreNetwork,
    ModelBuilder,
    QuadraticForms,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
    TelescopingHeads,
)
from secant.paths import DiffusionInterpolant, Path
from secant.targets import DimensionMixing
from secant.time_samplers import Uniform
from secant.training import OptimalTransport, Training

__all__ = ["SUITES", "Entry", "Suite"]

Make = Callable[[int], RatioEstimator]  # random_state → estimator
ONE_PASS: tuple[Rule | None, ...] = (SecantSteps(1),)
ITS_OWN: tuple[Rule | None, ...] = (None,)


@dataclass(frozen=True)
class Entry:
    """One method on one task, judged by one or more integration rules."""

    task: Task
    method: str
    make: Make
    rules: tuple[Rule | None, ...] = ONE_PASS  # None is the method's own


@dataclass(frozen=True)
class Suite:
    """A named list of entries."""

    name: str
    about: str
    entries: tuple[Entry, ...]


def _odd(d: int) -> tuple[int, ...]:
    return tuple(range(1, d, 2))


def _mapped_tasks(d: int, n_rows: int) -> list[Task]:
    pair = block_gaussians(d)
    maps = (("half-cube", half_cube, inverse_half_cube), ("asinh", asinh, inverse_asinh))
    return [
        Task(through(pair, forward, inverse, f"{name} blocks d={d}"), n_rows, _odd(d))
        for name, forward, inverse in maps
    ]


def _block_gaussian(
    *,
    steps: int,
    seed: int,
    quadratic: bool = False,
    anchor: bool | AnchorRule = False,
) -> SecantRatio:
    trunk = ResidualMLP(256, depth=2, quadratic=quadratic)
    return SecantRatio(
        SpectralSecant(trunk=trunk),
        anchor=anchor,
        scaling=Standardise(),
        training=Training(steps=steps, patience=None),
        random_state=seed,
    )


def _default(steps: int, seed: int) -> SecantRatio:
    return SecantRatio(training=Training(steps=steps), random_state=seed)


def _isadre(
    width: int,
    steps: int,
    curriculum: Curriculum,
    seed: int,
    *,
    path: Path | None = None,
    scaling: ScalingRule | None = None,
) -> ISADRE:
    return ISADRE(
        AlignedSecant(ResidualMLP(width, depth=2), vectorised=True),
        path=path,
        scaling=scaling,
        time_sampler=Uniform(),
        curriculum=curriculum,
        n_steps=5,
        training=Training(steps=steps, patience=None),
        random_state=seed,
    )


def _core() -> Suite:
    gaussian = GaussianMoments()
    blocks: list[tuple[int, str, dict[str, Any]]] = [
        (40, "plain network", {"steps": 10_000}),
        (80, "plain network", {"steps": 10_000}),
        (160, "plain network", {"steps": 10_000}),
        (160, "quadratic features", {"steps": 10_000, "quadratic": True}),
        (40, "Gaussian anchor", {"steps": 1_000, "anchor": gaussian}),
        (80, "Gaussian anchor", {"steps": 1_000, "anchor": gaussian}),
        (160, "Gaussian anchor", {"steps": 1_000, "anchor": gaussian}),
    ]
    entries = [
        Entry(Task(block_gaussians(d)), name, _by_seed(partial(_block_gaussian, **parts)))
        for d, name, parts in blocks
    ]
    rules = tuple(SecantSteps(m) for m in (1, 2, 5, 10))
    make = partial(_isadre, 256, 6_000, ContractionIntervalAnnealing())
    interpolant = {"path": DiffusionInterpolant(), "scaling": Identity()}  # p_0 is N(0, I)
    entries += [
        Entry(Task(block_gaussians(40)), "ISADRE, bridge", _by_seed(make), rules),
        Entry(
            Task(block_gaussians(40)),
            "ISADRE, diffusion interpolant",
            _by_seed(partial(make, **interpolant)),
            rules,
        ),
    ]
    for task in (*_mapped_tasks(40, 100_000), *(Task(p) for p in _without_gaussian_end())):
        entries.append(Entry(task, "SecantRatio, default", _by_seed(partial(_default, 4_000))))
    return Suite("core", "The foundation's numbers: exact log ratios, one pass.", tuple(entries))


def _without_gaussian_end() -> tuple[Pair, ...]:
    """Mixtures, the same bent so that no mixture anchor contains them, and heavy tails."""
    bent = through(mixture_8d(), half_cube, inverse_half_cube, "half-cube of mixtures-8d")
    return mixture_8d(), bent, student_pair()


def _by_seed(make: Callable[..., RatioEstimator]) -> Make:
    return lambda seed: make(seed=seed)


def _curriculum() -> Suite:
    task = Task(additive_noise(0.1))
    curricula: list[tuple[str, Curriculum]] = [
        ("CIA", ContractionIntervalAnnealing()),
        ("0 % STS", SecantTangentShare(0.0)),
        ("50 % STS", SecantTangentShare(0.5)),
        ("100 % STS", SecantTangentShare(1.0)),
    ]
    rules = tuple(SecantSteps(m) for m in (1, 2, 5, 10))
    entries = [
        Entry(task, name, _by_seed(partial(_isadre, 128, 3_000, curriculum)), rules)
        for name, curriculum in curricula
    ]
    about = "ISADRE on AdditiveNoise: interval annealing against fixed tangent shares."
    return Suite("curriculum", about, tuple(entries))


_SHOOT_OUT_TRAINING = Training(steps=1_500, patience=None, evaluate_every=500)
_HALF = Training(steps=750, patience=None, evaluate_every=250)


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
        training=_HALF if distilled else _SHOOT_OUT_TRAINING,
        random_state=seed,
    )


def _conditional(*, anchor: bool | AnchorRule, quadratic: bool, seed: int) -> ISADRE:
    return ISADRE(
        AlignedSecant(ResidualMLP(128, depth=2, quadratic=quadratic), vectorised=True),
        time_sampler=Uniform(),
        anchor=anchor,
        n_steps=1,
        training=_SHOOT_OUT_TRAINING,
        random_state=seed,
    )


def _spectral(trunk: ResidualMLP) -> SpectralSecant:
    return SpectralSecant(trunk=trunk)


def _tangent(trunk: ResidualMLP) -> TangentNetwork:
    return TangentNetwork(trunk)


def _aligned(trunk: ResidualMLP) -> AlignedSecant:
    return AlignedSecant(trunk)


def _shoot_out_methods() -> dict[str, Make]:
    methods: dict[str, Make] = {}
    for anchor, quadratic in product((False, GaussianMoments()), (False, True)):
        parts: dict[str, Any] = {"anchor": anchor, "quadratic": quadratic}
        tail = " + anchor" * bool(anchor) + " + quadratic" * quadratic
        for name, model in (("spectral", _spectral), ("aligned V2", _aligned)):
            methods[name + tail] = _by_seed(partial(_velocity, model, **parts))
        methods["distilled" + tail] = _by_seed(
            partial(_velocity, _tangent, distilled=True, **parts)
        )
        methods["aligned L1" + tail] = _by_seed(partial(_conditional, **parts))
    parts = {"anchor": GaussianMixtures(), "margins": True}
    tail = " + mixture anchor + margins"
    methods["spectral" + tail] = _by_seed(partial(_velocity, _spectral, **parts))
    methods["distilled" + tail] = _by_seed(partial(_velocity, _tangent, distilled=True, **parts))
    return methods


def _shoot_out() -> Suite:
    n = 100_000
    tasks = [Task(block_gaussians(d), n) for d in (2, 40, 160)]
    tasks += _mapped_tasks(40, n)
    tasks += [Task(p, n) for p in (mixture_2d(), mixture_8d(), student_pair(), narrow_gaussian(2))]
    entries = [
        Entry(task, name, make) for name, make in _shoot_out_methods().items() for task in tasks
    ]
    about = "Which model is the default of SecantRatio: one pass, 1,500 steps, width 128."
    return Suite("shoot-out", about, tuple(entries))


_BASELINE_TRAINING = Training(steps=2_000, patience=None, evaluate_every=500)


def _baseline_methods() -> dict[str, Make]:
    """Every method with the same trunk, budget and rows; its other settings are its defaults."""
    trunk = ResidualMLP(128, depth=2)
    tangent, vectorised = TangentNetwork(trunk), TangentNetwork(trunk, vectorised=True)
    joint, heads = JointScoreNetwork(trunk), TelescopingHeads(8, trunk)
    aligned = AlignedSecant(trunk, vectorised=True)
    neural: dict[str, Callable[..., RatioEstimator]] = {
        "SecantRatio": partial(SecantRatio, SpectralSecant(trunk=trunk)),
        "SecantRatio, no anchor": partial(SecantRatio, SpectralSecant(trunk=trunk), anchor=False),
        "ISADRE": partial(ISADRE, aligned, time_sampler=Uniform()),
        "DREInfinity": partial(DREInfinity, tangent),
        "DREInfinity, joint": partial(DREInfinity, joint, joint=True),
        "D3RE": partial(D3RE, tangent),
        "D3RE, optimal transport": partial(D3RE, tangent, pairing=OptimalTransport(iterations=20)),
        "CTSM": partial(CTSM, tangent, vectorised=False),
        "CTSM-v": partial(CTSM, vectorised),
        "TRE": partial(TRE, heads),
        "TRE, dimension mixing": partial(TRE, heads, waymarks=DimensionMixing()),
        "TRE, oracle form": partial(TRE, TelescopingHeads(8, QuadraticForms())),
    }
    for loss in ("nce", "infonce", "kulsif", "hellinger", "kl", "gamma", "ew", "pw", "dv"):
        neural[f"ClassifierRatio, {loss}"] = partial(ClassifierRatio, loss, trunk=trunk)
    methods = {
        name: _seeded(partial(make, training=_BASELINE_TRAINING)) for name, make in neural.items()
    }
    for method in ("ulsif", "rulsif", "kliep", "kulsif"):
        methods[f"KernelRatio, {method}"] = _seeded(partial(KernelRatio, method))
    methods["SklearnRatio, default"] = _seeded(SklearnRatio)
    methods["SklearnRatio, boosted trees"] = _seeded(
        partial(SklearnRatio, HistGradientBoostingClassifier())
    )
    return methods


def _seeded(make: Callable[..., RatioEstimator]) -> Make:
    return lambda seed: make(random_state=seed)


def _baselines() -> Suite:
    n = 50_000
    one = gaussian_pair(np.zeros(1), np.eye(1), np.ones(1), 0.5 * np.eye(1))
    pairs = (one, *(block_gaussians(d) for d in (2, 10, 40, 160)))
    entries = [
        Entry(Task(pair, n), name, make, ITS_OWN)
        for pair in pairs
        for name, make in _baseline_methods().items()
    ]
    about = "Every method on Gaussian pairs from 1 to 160 dimensions: same trunk, budget and rows."
    return Suite("baselines", about, tuple(entries))


SUITES: dict[str, Callable[[], Suite]] = {
    "baselines": _baselines,
    "core": _core,
    "curriculum": _curriculum,
    "shoot-out": _shoot_out,
}
