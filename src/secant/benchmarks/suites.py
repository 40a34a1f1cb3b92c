"""Suites: versioned lists of what is run on what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from secant.benchmarks.tasks import Task
from secant.curricula import (
    ContractionIntervalAnnealing,
    Curriculum,
    SecantTangentShare,
)
from secant.datasets import (
    additive_noise,
    asinh,
    block_gaussians,
    half_cube,
    inverse_asinh,
    inverse_half_cube,
    mixture_2d,
    mixture_8d,
    narrow_gaussian,
    student_pair,
    through,
)
from secant.estimators import ISADRE, AdaptiveMargins, SecantRatio, Standardise
from secant.estimators.neural import NeuralRatio
from secant.integration import Rule, SecantSteps
from secant.models import (
    AlignedSecant,
    ModelBuilder,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
)
from secant.time_samplers import Uniform
from secant.training import Training

__all__ = ["SUITES", "Entry", "Suite"]

Make = Callable[[int], NeuralRatio]  # random_state → estimator
ONE_PASS: tuple[Rule, ...] = (SecantSteps(1),)


@dataclass(frozen=True)
class Entry:
    """One method on one task, judged by one or more integration rules."""

    task: Task
    method: str
    make: Make
    rules: tuple[Rule, ...] = ONE_PASS


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


def _gaussian_width(d: int) -> int:
    return 256 if d <= 40 else 384


def _block_gaussian(d: int, *, quadratic: bool, anchor: bool, steps: int, seed: int) -> SecantRatio:
    trunk = ResidualMLP(_gaussian_width(d), depth=2, quadratic=quadratic)
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
    width: int, steps: int, curriculum: Curriculum, seed: int, learning_rate: float = 2e-3
) -> ISADRE:
    return ISADRE(
        AlignedSecant(ResidualMLP(width, depth=2), vectorised=True),
        time_sampler=Uniform(),
        curriculum=curriculum,
        n_steps=5,
        training=Training(steps=steps, patience=None, learning_rate=learning_rate),
        random_state=seed,
    )


def _core() -> Suite:
    entries = []
    plain = {"quadratic": False, "anchor": False}
    squares = {"quadratic": True, "anchor": False}
    anchor = {"quadratic": False, "anchor": True}
    for d in (40, 80, 160):
        task = Task(block_gaussians(d))
        for method, parts, steps in (
            ("spectral, plain network", plain, 10_000),
            ("spectral, quadratic features", squares, 10_000),
            ("spectral, Gaussian anchor", anchor, 2_000),
        ):
            make = partial(_block_gaussian, d, steps=steps, **parts)
            entries.append(Entry(task, method, _by_seed(make)))
    for task in _mapped_tasks(40, 100_000):
        entries.append(Entry(task, "SecantRatio, default", _by_seed(partial(_default, 10_000))))
    for task in (Task(mixture_8d()), Task(student_pair())):
        entries.append(Entry(task, "SecantRatio, default", _by_seed(partial(_default, 10_000))))
    rules = tuple(SecantSteps(m) for m in (1, 2, 5, 10))
    make = partial(_isadre, 256, 10_000, ContractionIntervalAnnealing())
    entries.append(Entry(Task(block_gaussians(40)), "ISADRE, fixed x", _by_seed(make), rules))
    return Suite("core", "The foundation's numbers: exact log ratios, one pass.", tuple(entries))


def _by_seed(make: Callable[..., NeuralRatio]) -> Make:
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
        Entry(task, name, _by_seed(partial(_isadre, 128, 4_000, curriculum)), rules)
        for name, curriculum in curricula
    ]
    about = "ISADRE on AdditiveNoise: interval annealing against fixed tangent shares."
    return Suite("curriculum", about, tuple(entries))


_SHOOT_OUT_TRAINING = Training(steps=2_000, patience=None, learning_rate=2e-3)
_HALF = Training(steps=1_000, patience=None, learning_rate=2e-3)


def _velocity(
    model: Callable[[ResidualMLP], ModelBuilder],
    *,
    quadratic: bool,
    anchor: bool,
    distilled: bool = False,
    margins: bool = False,
    seed: int,
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


def _conditional(*, quadratic: bool, anchor: bool, seed: int) -> ISADRE:
    trunk = ResidualMLP(128, depth=2, quadratic=quadratic)
    return ISADRE(
        AlignedSecant(trunk, vectorised=True),
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
    for anchor in (False, True):
        for quadratic in (False, True):
            parts = {"anchor": anchor, "quadratic": quadratic}
            tail = " + anchor" * anchor + " + quadratic" * quadratic
            methods["spectral" + tail] = _by_seed(partial(_velocity, _spectral, **parts))
            methods["distilled" + tail] = _by_seed(
                partial(_velocity, _tangent, distilled=True, **parts)
            )
            if not quadratic:
                methods["aligned V2" + tail] = _by_seed(partial(_velocity, _aligned, **parts))
                methods["aligned L1" + tail] = _by_seed(partial(_conditional, **parts))
    for quadratic in (False, True):
        tail = " + anchor" + " + quadratic" * quadratic + " + margins"
        parts = {"anchor": True, "quadratic": quadratic, "margins": True}
        methods["spectral" + tail] = _by_seed(partial(_velocity, _spectral, **parts))
    return methods


def _shoot_out() -> Suite:
    n = 100_000
    tasks = [Task(block_gaussians(d), n) for d in (2, 40, 160)]
    tasks += _mapped_tasks(40, n)
    tasks += [Task(p, n) for p in (mixture_2d(), mixture_8d(), student_pair(), narrow_gaussian(2))]
    entries = [
        Entry(task, name, make) for name, make in _shoot_out_methods().items() for task in tasks
    ]
    about = "Which model is the default of SecantRatio: one pass, 2,000 steps, width 128."
    return Suite("shoot-out", about, tuple(entries))


SUITES: dict[str, Callable[[], Suite]] = {
    "core": _core,
    "curriculum": _curriculum,
    "shoot-out": _shoot_out,
}
