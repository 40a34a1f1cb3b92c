"""ClassifierRatio: the log ratio as the logit of a classifier between the two samples."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from secant.anchoring import AnchorRule
from secant.estimators._base import RatioEstimator
from secant.estimators.neural import NeuralMixin, composed
from secant.fitting import Method
from secant.models.networks import TrunkBuilder
from secant.models.spectral import SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.scaling import ScalingRule
from secant.sizing import direct_training_for, trunk_for
from secant.targets.bregman import (
    ExponentialWeight,
    Hellinger,
    KullbackLeibler,
    Logistic,
    PolynomialWeight,
    SquaredRatio,
)
from secant.targets.direct import DirectLoss, DonskerVaradhan, GammaDivergence, InfoNCE
from secant.training.optimisers import Optimiser
from secant.training.settings import Training

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


@dataclass(eq=False, repr=False)
class ClassifierRatio(NeuralMixin, RatioEstimator):
    """A network trained to discriminate x_1 from x_0 by a direct loss (D0).

    Its output is the log ratio. Use it where the samples overlap; it saturates where they do not.

    Args:
        loss: `"nce"` (logistic), `"infonce"`, `"kulsif"` (Pearson χ²), `"hellinger"`, `"kl"` (NWJ),
            `"gamma"`, `"ew"` and `"pw"` (exponential and polynomial weight), `"dv"` (MINE), or a
            custom `DirectLoss`.
        trunk: the network; None is a `ResidualMLP` that follows rows and columns
            (`secant.sizing`).
        anchor: learn on top of a log ratio in closed form (G1), as `SecantRatio` does: True is
            `GaussianMixtures()`. Off by default, as in the published methods.
        scaling: of the columns; None is `Standardise()`.
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None follows rows and columns (`secant.sizing`).
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.
    """

    loss: str | DirectLoss = "nce"
    _: KW_ONLY
    trunk: TrunkBuilder | None = None
    anchor: bool | AnchorRule = False
    scaling: ScalingRule | None = None
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def _method(self, n_rows: float, n_features: int) -> Method:
        trunk = trunk_for(n_rows, n_features) if self.trunk is None else self.trunk
        if not isinstance(trunk, TrunkBuilder):
            raise TypeError(f"`trunk` must be a TrunkBuilder or None; got {trunk!r}.")
        return composed(
            self,
            model=SpectralSecant(order=1, trunk=trunk),  # constant in time: one output
            path=DiffusionInterpolant(),  # direct losses use its ends only
            target=self._resolved_loss(),
            training=direct_training_for(n_rows),
        )

    def _default_component(self, name: str) -> object:
        return super()._default_component(name) if name != "trunk" else trunk_for(math.inf, 1)

    def _resolved_loss(self) -> DirectLoss:
        if isinstance(self.loss, DirectLoss):
            return self.loss
        if self.loss not in list(_LOSSES):  # a list: the value may not be hashable
            raise ValueError(
                f"`loss` must be one of {sorted(_LOSSES)} or a DirectLoss object; "
                f"got {self.loss!r}."
            )
        return _LOSSES[self.loss]


def classifier_unless(estimator: RatioEstimator | None) -> RatioEstimator:
    """The estimator that another wraps; None is `ClassifierRatio()`."""
    if not isinstance(estimator, RatioEstimator | None):
        raise TypeError(f"`estimator` must be a RatioEstimator or None; got {estimator!r}.")
    return ClassifierRatio() if estimator is None else estimator
