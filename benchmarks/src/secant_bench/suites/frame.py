"""The frame of the secant identity: the derivative at fixed x against the one along the sample."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from secant.curricula import ContractionIntervalAnnealing
from secant.datasets import block_gaussians, gaussian_pair
from secant_bench.budgets import Budget
from secant_bench.suites.entries import Entry, Suite, by_seed
from secant_bench.suites.shared import FROM_NORMAL, by_steps, isadre
from secant_bench.tasks import Task

__all__ = ["suite"]

_FRAMES: tuple[Literal["fixed-x", "trajectory"], ...] = ("fixed-x", "trajectory")


def suite(budget: Budget) -> Suite:
    """N(0, 1) to N(0, 0.1), whose KL is 0 in the trajectory frame, and blocks of 10 nats."""
    narrow = gaussian_pair(np.zeros(1), np.eye(1), np.zeros(1), 0.1 * np.eye(1), name="N(0, 0.1)")
    make = partial(
        isadre,
        256,
        budget.pick(500, 1_500, 20_000),
        ContractionIntervalAnnealing(),
        **FROM_NORMAL,
    )
    entries = [
        Entry(Task(pair), frame, by_seed(partial(make, frame=frame)), by_steps())
        for pair in (narrow, block_gaussians(40))
        for frame in _FRAMES
    ]
    return Suite("paper-frame", "the identity at fixed x and along the sample", tuple(entries))
