"""TRE: a chasm crossed by many short bridges, each a classifier between neighbouring waymarks."""

from __future__ import annotations

import numpy as np

from secant.curricula import FullIntervals
from secant.estimators.path_ratio import PathRatio
from secant.estimators.preparation import Prepared
from secant.estimators.scaling import ScalingRule, Standardise
from secant.integration import SecantSteps
from secant.models.telescoping import TelescopingHeads
from secant.paths import DiffusionInterpolant, Path
from secant.schedules import Foellmer
from secant.targets.batch import Target
from secant.targets.telescoping import LinearCombination, Telescoping, Waymarks
from secant.time_samplers import Uniform
from secant.training.settings import Training
from secant.training.step import Objective

__all__ = ["TRE"]


class TRE(PathRatio):
    """Telescoping ratio estimation (R1) [@rhodes2020telescoping]; one pass, the sum of all heads.

    Args:
        model: None is `TelescopingHeads()`, 8 bridges on a shared trunk. With
            `TelescopingHeads(trunk=QuadraticForms())` the heads have a Gaussian's own form: label
            such results as an oracle form.
        waymarks: None is `LinearCombination()`; `DimensionMixing()` swaps column after column.
        path: of linear combinations; None is `DiffusionInterpolant(Foellmer())`.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        model: TelescopingHeads | None = None,
        *,
        waymarks: Waymarks | None = None,
        path: Path | None = None,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.waymarks = waymarks
        self.path = path
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _resolve(self) -> None:
        self.builder_ = TelescopingHeads() if self.model is None else self.model
        if not isinstance(self.builder_, TelescopingHeads):
            raise TypeError(f"`model` must be a TelescopingHeads or None; got {self.builder_!r}.")
        self.waymarks_ = LinearCombination() if self.waymarks is None else self.waymarks
        if not isinstance(self.waymarks_, Waymarks):
            raise TypeError(f"`waymarks` must be a Waymarks or None; got {self.waymarks_!r}.")
        self.path_ = DiffusionInterpolant(Foellmer()) if self.path is None else self.path
        self.scaling_rule_ = Standardise() if self.scaling is None else self.scaling
        self.training_ = Training() if self.training is None else self.training
        self.rule_ = SecantSteps(1)

    def _held_out_target(self) -> Target:
        """Its own loss: between waymarks there is no tangent to be judged by J."""
        return Telescoping(self.waymarks_)

    def _objective(self, prepared: Prepared) -> Objective:
        del prepared
        return Objective(self._held_out_target(), self.path_, Uniform(), FullIntervals())
