"""All that a training depends on."""

from __future__ import annotations

from dataclasses import dataclass, field

from jaxtyping import PRNGKeyArray, PyTree

from secant.training.held_out import HeldOut
from secant.training.optimisers import Adam, Optimiser
from secant.training.settings import Training
from secant.training.sources import Source
from secant.training.step import Objective

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """What is trained on which rows, towards what, how, and judged by what.

    Attributes:
        model: to begin from.
        source: of the rows.
        objective: what is minimised.
        held_out: the loss on rows not trained on, by which the best state is kept.
        training: the settings.
        key: of everything random.
        optimiser: how gradients become steps.
    """

    model: PyTree
    source: Source
    objective: Objective
    held_out: HeldOut
    training: Training
    key: PRNGKeyArray
    optimiser: Optimiser = field(default_factory=Adam)
