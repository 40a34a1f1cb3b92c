"""ClassifierRatio: the log ratio as the logit of a classifier between the two samples."""

from __future__ import annotations

import numpy as np

from secant.curricula import FullIntervals
from secant.estimators._base import key_of
from secant.estimators.neural import NeuralRatio, Runner, Stage
from secant.estimators.preparation import Prepared
from secant.estimators.scaling import ScalingRule, Standardise
from secant.integration import SecantSteps
from secant.models.networks import ResidualMLP, TrunkBuilder
from secant.models.spectral import SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.targets.batch import Target
from secant.targets.direct import Logistic
from secant.time_samplers import Uniform
from secant.training.loop import TrainingResult
from secant.training.settings import Training
from secant.training.step import Objective

__all__ = ["ClassifierRatio"]

_LOSSES: dict[str, Target] = {"nce": Logistic()}


class ClassifierRatio(NeuralRatio):
    """A network told x_1 from x_0 by a direct loss (D0); its output is the log ratio.

    The method of choice where the samples overlap, and the one that saturates where they do not.

    Args:
        loss: `"nce"`, the logistic loss, or a target object of your own.
        trunk: the network; None is `ResidualMLP()`.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        loss: str | Target = "nce",
        *,
        trunk: TrunkBuilder | None = None,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.trunk = trunk
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _resolve(self) -> None:
        self.loss_ = self._resolved_loss()
        trunk = ResidualMLP() if self.trunk is None else self.trunk
        self.builder_ = SpectralSecant(order=1, trunk=trunk)  # constant in time: one output
        self.path_ = DiffusionInterpolant()  # direct losses look at its ends only
        self.scaling_rule_ = Standardise() if self.scaling is None else self.scaling
        self.training_ = Training() if self.training is None else self.training
        self.rule_ = SecantSteps(1)

    def _resolved_loss(self) -> Target:
        if isinstance(self.loss, Target):
            return self.loss
        if self.loss not in list(_LOSSES):  # a list: what came may not be hashable
            raise ValueError(
                f"`loss` must be one of {sorted(_LOSSES)} or a Target object; got {self.loss!r}."
            )
        return _LOSSES[self.loss]

    def _held_out_target(self) -> Target:
        return self.loss_

    def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
        model = self.builder_.build(prepared.n_features, key=key_of(seed, 0))
        objective = Objective(self.loss_, self.path_, Uniform(), FullIntervals())
        return run(Stage(model, objective, self.training_), 0)
