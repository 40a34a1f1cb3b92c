"""ClassifierRatio: the log ratio as the logit of a classifier between the two samples."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from secant.curricula import FullIntervals
from secant.diagnostics import log_normaliser
from secant.estimators.anchoring import AnchorRule, resolved_anchor
from secant.estimators.neural import NeuralRatio, Runner
from secant.estimators.preparation import Prepared
from secant.estimators.scaling import ScalingRule, Standardise
from secant.integration import SecantSteps
from secant.models.networks import ResidualMLP, TrunkBuilder
from secant.models.secant_function import SecantFunction
from secant.models.shifted import Shifted
from secant.models.spectral import SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.targets.batch import Target
from secant.targets.bregman import (
    ExponentialWeight,
    Hellinger,
    KullbackLeibler,
    Logistic,
    PolynomialWeight,
    SquaredRatio,
)
from secant.targets.direct import DirectLoss, DonskerVaradhan, GammaDivergence, InfoNCE
from secant.time_samplers import Uniform
from secant.training.loop import TrainingResult
from secant.training.settings import Training
from secant.training.step import Objective

__all__ = ["ClassifierRatio"]

_LOSSES: dict[str, DirectLoss] = {
    "nce": Logistic(),
    "infonce": InfoNCE(),
    "kulsif": SquaredRatio(),
    "hellinger": Hellinger(),
    "kl": KullbackLeibler(),
    "gamma": GammaDivergence(),
    "ew": ExponentialWeight(),
    "pw": PolynomialWeight(),
    "dv": DonskerVaradhan(),
}


class ClassifierRatio(NeuralRatio):
    """A network told x_1 from x_0 by a direct loss (D0); its output is the log ratio.

    The method of choice where the samples overlap, and the one that saturates where they do not.

    Args:
        loss: `"nce"` (logistic), `"infonce"`, `"kulsif"` (Pearson χ²), `"hellinger"`, `"kl"` (NWJ),
            `"gamma"`, `"ew"` and `"pw"` (exponential and polynomial weight), `"dv"` (MINE), or a
            `DirectLoss` of your own.
        trunk: the network; None is `ResidualMLP()`.
        anchor: learn on top of a log ratio in closed form (G1), as `SecantRatio` does: True is
            `GaussianMixtures()`. Off by default, for the published methods have none.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        loss: str | DirectLoss = "nce",
        *,
        trunk: TrunkBuilder | None = None,
        anchor: bool | AnchorRule = False,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.trunk = trunk
        self.anchor = anchor
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _resolve(self) -> None:
        self.loss_ = self._resolved_loss()
        trunk = ResidualMLP() if self.trunk is None else self.trunk
        self.builder_ = SpectralSecant(order=1, trunk=trunk)  # constant in time: one output
        self.anchor_ = resolved_anchor(self.anchor)
        self.path_ = DiffusionInterpolant()  # direct losses look at its ends only
        self.scaling_rule_ = Standardise() if self.scaling is None else self.scaling
        self.training_ = Training() if self.training is None else self.training
        self.rule_ = SecantSteps(1)

    def _resolved_loss(self) -> DirectLoss:
        if isinstance(self.loss, DirectLoss):
            return self.loss
        if self.loss not in list(_LOSSES):  # a list: what came may not be hashable
            raise ValueError(
                f"`loss` must be one of {sorted(_LOSSES)} or a DirectLoss object; "
                f"got {self.loss!r}."
            )
        return _LOSSES[self.loss]

    def _held_out_target(self) -> Target:
        return self.loss_

    def _objective(self, prepared: Prepared) -> Objective:
        del prepared
        return Objective(self.loss_, self.path_, Uniform(), FullIntervals())

    def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
        result = super()._trained(prepared, run, seed)
        if self.loss_.fixes_constant:
            return result
        return replace(result, model=_normalised(result.model, prepared.rows_0))


def _normalised(model: SecantFunction, x_0: Float[np.ndarray, "n d"]) -> Shifted:
    """The model with E_{p_0}[r] = 1 over some training rows."""
    log_ratio = SecantSteps(1)(model, jnp.asarray(x_0)).value
    return Shifted(model, jnp.asarray(log_normaliser(np.asarray(log_ratio)).log_value, dtype=float))
