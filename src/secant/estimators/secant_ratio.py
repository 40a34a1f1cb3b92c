"""SecantRatio: the velocity form on a one-pass secant, for any two samples."""

from __future__ import annotations

import numpy as np

from secant.curricula import ContractionIntervalAnnealing, Curriculum, FullIntervals
from secant.estimators.anchoring import AnchorRule, resolved_anchor
from secant.estimators.neural import Runner, Stage
from secant.estimators.path_ratio import PathRatio
from secant.estimators.preparation import Prepared
from secant.estimators.scaling import AdaptiveMargins, ScalingRule
from secant.integration import SecantSteps
from secant.models.aligned import AlignedSecant
from secant.models.secant_function import ModelBuilder
from secant.models.spectral import SpectralSecant
from secant.paths import DiffusionInterpolant, Path
from secant.targets.distillation import Distillation
from secant.targets.velocity import SecantVelocity, TangentVelocity
from secant.time_samplers import Uniform
from secant.training.loop import TrainingResult
from secant.training.settings import Training
from secant.training.step import Objective

__all__ = ["SecantRatio"]


class SecantRatio(PathRatio):
    """log p_1 − log p_0 in one forward pass, learned by the velocity form (V1).

    Needs samples only: no Gaussian end, no closed-form conditional, no truncation of time.

    Args:
        model: what is trained; None is `SpectralSecant()`, whose log ratio is one output. An
            `AlignedSecant` is trained by (V2), any other model by (V1).
        student: a second model that is distilled from the first (E1) and then used; None for none.
        path: between the samples; None is `DiffusionInterpolant()` with the trigonometric schedule.
        anchor: learn on top of a path in closed form (G1): True is `GaussianMixtures()`, a mixture
            of Gaussian paths that is one Gaussian path where the data ask for no more.
        scaling: of the columns, by an invertible map that leaves the ratio exact; None is
            `AdaptiveMargins()`.
        curriculum: of an `AlignedSecant`; None is `ContractionIntervalAnnealing()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.

    Attributes:
        diagnostics_: held-out J, log Ẑ with its standard error, effective sample size, status.
        history_: the training record, one entry a look at the held-out loss.
        model_, path_, scaling_, training_: what was resolved and learned.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
        >>> training = secant.Training(steps=500)
        >>> ratio = secant.SecantRatio(training=training, random_state=0).fit_samples(x_0, x_1)
        >>> bool(ratio.log_ratio([[2.0, 2.0]])[0] > 0.0)  # looks like x_1
        True
    """

    def __init__(
        self,
        model: ModelBuilder | None = None,
        *,
        student: ModelBuilder | None = None,
        path: Path | None = None,
        anchor: bool | AnchorRule = True,
        scaling: ScalingRule | None = None,
        curriculum: Curriculum | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.student = student
        self.path = path
        self.anchor = anchor
        self.scaling = scaling
        self.curriculum = curriculum
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _resolve(self) -> None:
        self.builder_ = SpectralSecant() if self.model is None else self.model
        self.path_ = DiffusionInterpolant() if self.path is None else self.path
        self.scaling_rule_ = AdaptiveMargins() if self.scaling is None else self.scaling
        self.training_ = Training() if self.training is None else self.training
        self.curriculum_ = (
            ContractionIntervalAnnealing() if self.curriculum is None else self.curriculum
        )
        self.anchor_ = resolved_anchor(self.anchor)
        self.rule_ = SecantSteps(1)

    def _objective(self, prepared: Prepared) -> Objective:
        del prepared
        if isinstance(self.builder_, AlignedSecant):
            return Objective(SecantVelocity(), self.path_, Uniform(), self.curriculum_)
        return Objective(TangentVelocity(), self.path_, Uniform(), FullIntervals())

    def _trained(self, prepared: Prepared, run: Runner, seed: int) -> TrainingResult:
        result = super()._trained(prepared, run, seed)
        if self.student is None:
            return result
        student = self._built(self.student, prepared, seed, 1)
        objective = Objective(Distillation(result.model), self.path_, Uniform(), FullIntervals())
        return run(Stage(student, objective, self.training_), 1)
