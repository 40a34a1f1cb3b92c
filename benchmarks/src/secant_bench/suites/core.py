"""An overview of the suites in minutes, with fewer steps than those used for quoted results."""

from __future__ import annotations

from functools import partial

from secant.datasets import block_gaussians, mixture_8d, student_pair
from secant.estimators import GaussianMoments
from secant.training import Training
from secant_bench.products import picked
from secant_bench.suites import baselines
from secant_bench.suites.entries import ITS_OWN, Entry, Suite, by_seed
from secant_bench.suites.foundation import block_gaussian, by_default
from secant_bench.tasks import Task

__all__ = ["suite"]

_TRAINING = Training(steps=500, patience=None, evaluate_every=250)
_METHODS = (
    "SecantRatio",
    "SecantRatio, no anchor",
    "ISADRE",
    "DREInfinity",
    "D3RE",
    "CTSM",
    "CTSM-v",
    "TRE",
    "ClassifierRatio, nce",
    "ClassifierRatio, pw",
    "KernelRatio, ulsif",
    "SklearnRatio, default",
)


def suite() -> Suite:
    """The foundation on distant pairs, and one of each kind of baseline in ten dimensions."""
    anchored = partial(block_gaussian, steps=300, anchor=GaussianMoments())
    plain = partial(block_gaussian, steps=1_500)
    entries = [
        Entry(Task(block_gaussians(40)), "Gaussian anchor", by_seed(anchored)),
        Entry(Task(block_gaussians(160)), "Gaussian anchor", by_seed(anchored)),
        Entry(Task(block_gaussians(40)), "plain network", by_seed(plain)),
        Entry(Task(mixture_8d()), "SecantRatio, default", by_seed(partial(by_default, 800))),
        Entry(Task(student_pair()), "SecantRatio, default", by_seed(partial(by_default, 800))),
    ]
    ten, others = Task(block_gaussians(10), 20_000), picked(baselines.methods(_TRAINING), *_METHODS)
    entries += [Entry(ten, name, make, ITS_OWN) for name, make in others.items()]
    return Suite("core", "the foundation and the baselines, in minutes", tuple(entries))
