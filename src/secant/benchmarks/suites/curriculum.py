"""Interval annealing against fixed tangent shares."""

from __future__ import annotations

from functools import partial

from secant.benchmarks.suites.entries import Entry, Suite, by_seed
from secant.benchmarks.suites.shared import isadre
from secant.benchmarks.tasks import Task
from secant.curricula import ContractionIntervalAnnealing, Curriculum, SecantTangentShare
from secant.datasets import additive_noise
from secant.integration import SecantSteps

__all__ = ["suite"]


def suite() -> Suite:
    """ISADRE on AdditiveNoise, a curriculum an entry."""
    task = Task(additive_noise(0.1))
    curricula: list[tuple[str, Curriculum]] = [
        ("CIA", ContractionIntervalAnnealing()),
        ("0 % STS", SecantTangentShare(0.0)),
        ("50 % STS", SecantTangentShare(0.5)),
        ("100 % STS", SecantTangentShare(1.0)),
    ]
    rules = tuple(SecantSteps(m) for m in (1, 2, 5, 10))
    entries = [
        Entry(task, name, by_seed(partial(isadre, 128, 3_000, curriculum)), rules)
        for name, curriculum in curricula
    ]
    about = "ISADRE on AdditiveNoise: interval annealing against fixed tangent shares."
    return Suite("curriculum", about, tuple(entries))
