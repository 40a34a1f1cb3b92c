"""Other libraries, on the same rows in the same time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from secant.datasets import block_gaussians, gaussian_pair, mixture_8d, student_pair
from secant.estimators import ClassifierRatio, SecantRatio
from secant.tasks.model_choice import default_ratio
from secant_bench.peers import (
    DensRatio,
    TorchCTSM,
    TorchDREInfinity,
    boosted_trees,
    logistic_regression,
)
from secant_bench.suites.entries import ITS_OWN, Entry, Make, Suite, by_random_state
from secant_bench.tasks import Ratio, Task

__all__ = ["suite"]

_N_ROWS = 20_000
_SECONDS = 60.0  # for methods without early stopping


def suite() -> Suite:
    """Pairs near and far, 20,000 rows of each sample."""
    near = gaussian_pair(
        np.zeros(5), np.eye(5), np.full(5, 0.5), 0.8 * np.eye(5), name="near-gaussians-5d"
    )
    pairs = (near, student_pair(), mixture_8d(), block_gaussians(10), block_gaussians(40))
    entries = [
        Entry(Task(pair, _N_ROWS), name, make, ITS_OWN)
        for pair in pairs
        for name, make in _methods(pair.n_features).items()
    ]
    about = "log ratios of 20,000 rows by other libraries, with a minute at most"
    return Suite("peers-ratio", about, tuple(entries))


def _methods(n_features: int) -> dict[str, Make]:
    torch: dict[str, Callable[..., Ratio]] = {
        "CTSM, eager PyTorch": partial(TorchCTSM, max_seconds=_SECONDS),
        "DRE-∞, eager PyTorch": partial(TorchDREInfinity, max_seconds=_SECONDS),
    }
    return {
        "secant": lambda seed: default_ratio(_N_ROWS, n_features).set_params(random_state=seed),
        "SecantRatio": by_random_state(SecantRatio),
        "ClassifierRatio": by_random_state(ClassifierRatio),
        "logistic regression": logistic_regression,
        "boosted trees, calibrated": boosted_trees,
        "densratio, 5k rows": by_random_state(DensRatio),
        **{name: by_random_state(make) for name, make in torch.items()},
    }
