"""The suite of the foundation, with the full number of steps."""

from __future__ import annotations

from functools import partial
from typing import Any

from secant.anchoring import AnchorRule
from secant.curricula import ContractionIntervalAnnealing
from secant.datasets import (
    Pair,
    block_gaussians,
    half_cube,
    inverse_half_cube,
    mixture_8d,
    student_pair,
    through,
)
from secant.estimators import GaussianMoments, SecantRatio, Standardise
from secant.integration import SecantSteps
from secant.models import ResidualMLP, SpectralSecant
from secant.paths import DiffusionBridge
from secant.training import Training
from secant_bench.suites.entries import Entry, Suite, by_seed
from secant_bench.suites.shared import FROM_NORMAL, isadre, mapped_tasks
from secant_bench.tasks import Task

__all__ = ["block_gaussian", "by_default", "suite"]


def suite() -> Suite:
    """Exact log ratios in one pass: blocks of Gaussians, maps of them, mixtures, heavy tails."""
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
        Entry(Task(block_gaussians(d)), name, by_seed(partial(block_gaussian, **parts)))
        for d, name, parts in blocks
    ]
    rules = tuple(SecantSteps(m) for m in (1, 2, 5, 10))
    make = partial(isadre, 256, 6_000, ContractionIntervalAnnealing())
    entries += [
        Entry(
            Task(block_gaussians(40)),
            "ISADRE, bridge",
            by_seed(partial(make, path=DiffusionBridge())),
            rules,
        ),
        Entry(
            Task(block_gaussians(40)),
            "ISADRE, diffusion interpolant",
            by_seed(partial(make, **FROM_NORMAL)),
            rules,
        ),
    ]
    for task in (*mapped_tasks(40, 100_000), *(Task(p) for p in _without_gaussian_end())):
        entries.append(Entry(task, "SecantRatio, default", by_seed(partial(by_default, 4_000))))
    about = "exact log ratios in one pass: Gaussians, maps of them, mixtures, heavy tails"
    return Suite("foundation", about, tuple(entries))


def _without_gaussian_end() -> tuple[Pair, ...]:
    """Mixtures, a map of them outside the family of the anchor, and heavy tails."""
    bent = through(mixture_8d(), half_cube, inverse_half_cube, "half-cube of mixtures-8d")
    return mixture_8d(), bent, student_pair()


def block_gaussian(
    *,
    steps: int,
    seed: int,
    quadratic: bool = False,
    anchor: bool | AnchorRule = False,
) -> SecantRatio:
    """A method with a network of width 256 and the given parameters."""
    trunk = ResidualMLP(256, depth=2, quadratic=quadratic)
    return SecantRatio(
        SpectralSecant(trunk=trunk),
        anchor=anchor,
        scaling=Standardise(),
        training=Training(steps=steps, patience=None),
        random_state=seed,
    )


def by_default(steps: int, seed: int) -> SecantRatio:
    """Default settings, with fewer steps."""
    return SecantRatio(training=Training(steps=steps), random_state=seed)
