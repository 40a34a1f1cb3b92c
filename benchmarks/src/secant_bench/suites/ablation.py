"""The paper's ablation: samplers of times, and the share of the training on the tangent."""

from __future__ import annotations

from functools import partial
from itertools import product

from secant.curricula import ContractionIntervalAnnealing, Curriculum, SecantTangentShare
from secant.datasets import Toy, additive_noise, toys
from secant.integration import SecantSteps
from secant.time_samplers import LogitNormal, TimeSampler, Uniform, VarianceImportance
from secant_bench.budgets import Budget
from secant_bench.suites.entries import Entry, Suite, by_seed
from secant_bench.suites.shared import isadre
from secant_bench.tasks import Task

__all__ = ["SUPERVISION", "suite"]

SUPERVISION: dict[str, Curriculum] = {
    "CIA": ContractionIntervalAnnealing(),
    "0 % STS": SecantTangentShare(0.0),
    "50 % STS": SecantTangentShare(0.5),
    "100 % STS": SecantTangentShare(1.0),
}
_SAMPLERS: dict[str, TimeSampler] = {
    "VI": VarianceImportance(),
    "uniform": Uniform(),
    "LN": LogitNormal(),
}


def suite(budget: Budget) -> Suite:
    """ISADRE on a density of the plane and on the mutual information of AdditiveNoise."""
    rules = tuple(SecantSteps(m) for m in (1, 2, 5, 10))
    steps = budget.pick(1_500, 6_000, 30_000)
    tasks = (Task(additive_noise(0.1)), Task(_checkerboard().from_normal()))
    entries = [
        Entry(
            task,
            f"{sampler}, {supervision}",
            by_seed(
                partial(
                    isadre,
                    128,
                    steps,
                    SUPERVISION[supervision],
                    time_sampler=_SAMPLERS[sampler],
                )
            ),
            rules,
        )
        for task, sampler, supervision in product(tasks, _SAMPLERS, SUPERVISION)
    ]
    about = "ISADRE by sampler of times and share of tangents, on mutual information and a density"
    return Suite("paper-ablation", about, tuple(entries))


def _checkerboard() -> Toy:
    return next(toy for toy in toys() if toy.name == "checkerboard")
