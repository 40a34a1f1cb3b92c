"""ISADRE: interval-annealed secant alignment, the paper's method with the paper's parts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from secant.anchoring import AnchorRule, resolved_anchor
from secant.curricula import ContractionIntervalAnnealing, Curriculum
from secant.estimators._base import RatioEstimator
from secant.estimators.neural import PathMixin
from secant.fitting import Method
from secant.integration import SecantSteps
from secant.models.aligned import AlignedSecant
from secant.paths import DiffusionBridge, Path
from secant.scaling import ScalingRule, Standardise
from secant.targets.batch import Target
from secant.targets.conditional import ConditionalSecantAlignment
from secant.time_samplers import TimeSampler, VarianceImportance
from secant.training.optimisers import Adam, Optimiser
from secant.training.settings import Training

__all__ = ["ISADRE"]


class ISADRE(PathMixin, RatioEstimator):
    """A free secant u(x, l, t) trained by conditional secant alignment (L1) [@chen2025diffusion].

    The target is the closed-form conditional time score (C1), the correction term a JVP under a
    stop-gradient (S1), the weight λ(t) = 1/Var, the log ratio a sum over `n_steps` secants.

    Args:
        model: the secant network; None is `AlignedSecant(vectorised=True)`.
        path: None is `DiffusionBridge()`, trigonometric with γ = 1, for any two samples.
            `DiffusionInterpolant` has a closed-form conditional only where p_0 = N(0, I): pass it
            together with `Identity` scaling and standard normal x_0.
        target: the loss; None is `ConditionalSecantAlignment()` in this frame, vectorised if the
            model is.
        time_sampler: None is `VarianceImportance()`, the paper's VI with a floor.
        curriculum: None is `ContractionIntervalAnnealing()` (CIA).
        frame: `fixed-x`, or `trajectory` for the paper's total derivative, under which every KL
            reads 0 (erratum 1).
        n_steps: secants summed for one log ratio, its number of function evaluations.
        anchor: learn on top of a path in closed form (G1); not part of the paper.
        scaling: of the columns; None is `Standardise()`.
        optimiser: how gradients become steps; None is `Adam()`.
        training: budget and batch; None is `Training(patience=None)`. With a patience, training
            does not stop before the curriculum has ended: the held-out loss need not fall while
            the intervals still grow.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        model: AlignedSecant | None = None,
        *,
        path: Path | None = None,
        target: Target | None = None,
        time_sampler: TimeSampler | None = None,
        curriculum: Curriculum | None = None,
        frame: Literal["fixed-x", "trajectory"] = "fixed-x",
        n_steps: int = 5,
        anchor: bool | AnchorRule = False,
        scaling: ScalingRule | None = None,
        optimiser: Optimiser | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.path = path
        self.target = target
        self.time_sampler = time_sampler
        self.curriculum = curriculum
        self.frame = frame
        self.n_steps = n_steps
        self.anchor = anchor
        self.scaling = scaling
        self.optimiser = optimiser
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _method(self, n_rows: float, n_features: int) -> Method:
        del n_rows, n_features
        if self.frame not in ("fixed-x", "trajectory"):
            raise ValueError(f"`frame` must be 'fixed-x' or 'trajectory'; got {self.frame!r}.")
        model = AlignedSecant(vectorised=True) if self.model is None else self.model
        target = ConditionalSecantAlignment(
            vectorised=getattr(model, "vectorised", False), frame=self.frame
        )
        return Method(
            model=model,
            path=DiffusionBridge() if self.path is None else self.path,
            target=target if self.target is None else self.target,
            time_sampler=VarianceImportance() if self.time_sampler is None else self.time_sampler,
            curriculum=(
                ContractionIntervalAnnealing() if self.curriculum is None else self.curriculum
            ),
            anchor=resolved_anchor(self.anchor),
            scaling=Standardise() if self.scaling is None else self.scaling,
            rule=SecantSteps(self.n_steps),
            optimiser=Adam() if self.optimiser is None else self.optimiser,
            training=Training(patience=None) if self.training is None else self.training,
        )
