"""SecantRatio: the velocity form on a one-pass secant, for any two samples."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from secant.anchoring import AnchorRule
from secant.curricula import ContractionIntervalAnnealing, Curriculum
from secant.estimators._base import RatioEstimator
from secant.estimators.neural import PathMixin, composed
from secant.fitting import Fitted, Method
from secant.integration import Rule
from secant.models.secant_function import ModelBuilder
from secant.models.spectral import SpectralSecant
from secant.paths import DiffusionInterpolant, Path
from secant.samples import Samples
from secant.scaling import AdaptiveMargins, ScalingRule
from secant.sizing import training_for, trunk_for
from secant.targets.batch import Target
from secant.targets.distillation import Distillation
from secant.targets.velocity import SecantVelocity, TangentVelocity
from secant.time_samplers import TimeSampler
from secant.training.optimisers import Optimiser
from secant.training.settings import Training


@dataclass(eq=False, repr=False)
class SecantRatio(PathMixin, RatioEstimator):
    """log p_1 − log p_0 in one forward pass, learned by the velocity form (V1).

    Needs samples only: no Gaussian end, no closed-form conditional, no truncation of time.

    Args:
        model: the trained model; None is `SpectralSecant()`, whose log ratio is one output, with a
            network sized by rows and columns (`secant.sizing`).
        student: a second model, distilled from the first (E1) and used instead; None for none.
        path: between the samples; None is `DiffusionInterpolant()` with the trigonometric schedule.
        target: the loss; None is (V2) for a model with secants of its own to align, such as
            `AlignedSecant`, and (V1) for any other.
        time_sampler: distribution of times in a batch; None is `Uniform()`.
        curriculum: for targets that use intervals; None is `ContractionIntervalAnnealing()`.
        anchor: learn on top of a path in closed form (G1): True is `GaussianMixtures()`, a mixture
            of Gaussian paths with as many components as held-out rows support.
        scaling: of the columns, by an invertible map that leaves the ratio exact; None is
            `AdaptiveMargins()`.
        rule: integrates the model to the log ratio; None is `SecantSteps(1)`, one pass.
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None follows rows and columns (`secant.sizing`).
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.

    Attributes:
        diagnostics_: held-out J, log Ẑ with its standard error, effective sample size, status.
        history_: the training record, one entry per evaluation of the held-out loss.
        model_, path_, scaling_, training_: what was resolved and learned.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
        >>> ratio = secant.SecantRatio(random_state=0).fit_samples(x_0, x_1)
        >>> bool(ratio.log_ratio([[2.0, 2.0]])[0] > 0.0)  # more likely under p_1
        True
    """

    model: ModelBuilder | None = None
    _: KW_ONLY
    student: ModelBuilder | None = None
    path: Path | None = None
    target: Target | None = None
    time_sampler: TimeSampler | None = None
    curriculum: Curriculum | None = None
    anchor: bool | AnchorRule = True
    scaling: ScalingRule | None = None
    rule: Rule | None = None
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def _method(self, n_rows: float, n_features: int) -> Method:
        if not isinstance(self.student, ModelBuilder | None):
            raise TypeError(f"`student` must be a ModelBuilder or None; got {self.student!r}.")
        return composed(
            self,
            model=SpectralSecant(trunk=trunk_for(n_rows, n_features)),
            path=DiffusionInterpolant(),
            target=_target_of(self.model),
            curriculum=ContractionIntervalAnnealing(),
            scaling=AdaptiveMargins(),
            training=training_for(n_rows, batch_size=256, learning_rate=2e-3),
        )

    def _fitted(self, method: Method, samples: Samples, seed: int) -> Fitted:
        fitted = super()._fitted(method, samples, seed)
        if self.student is None:
            return fitted
        taught = replace(method, model=self.student, target=Distillation(fitted.model))
        return super()._fitted(taught, samples, seed)


def _target_of(model: object) -> Target:
    """The velocity form for this kind of model."""
    is_to_align = isinstance(model, ModelBuilder) and model.needs_alignment
    return SecantVelocity() if is_to_align else TangentVelocity()
