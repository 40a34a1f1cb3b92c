"""ISADRE: interval-annealed secant alignment, the paper's method with the paper's parts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from secant.curricula import ContractionIntervalAnnealing, Curriculum
from secant.estimators.anchoring import AnchorRule, resolved_anchor
from secant.estimators.conditional import conditional_sampler, warn_unless_standard_normal
from secant.estimators.path_ratio import PathRatio
from secant.estimators.preparation import Prepared
from secant.estimators.scaling import ScalingRule, Standardise
from secant.integration import SecantSteps
from secant.models.aligned import AlignedSecant
from secant.paths import DiffusionBridge, Path
from secant.targets.batch import Target
from secant.targets.conditional import ConditionalSecantAlignment
from secant.targets.velocity import ImpliedVelocity
from secant.time_samplers import TimeSampler, VarianceImportance
from secant.training.settings import Training
from secant.training.step import Objective

__all__ = ["ISADRE"]


class ISADRE(PathRatio):
    """A free secant u(x, l, t) trained by conditional secant alignment (L1) [@chen2025diffusion].

    The target is the closed-form conditional time score (C1), the correction term a JVP under a
    stop-gradient (S1), the weight λ(t) = 1/Var, the log ratio a sum over `n_steps` secants.

    Args:
        model: the secant network; None is `AlignedSecant(vectorised=True)`.
        path: None is `DiffusionBridge()`, trigonometric with γ = 1, for any two samples.
            `DiffusionInterpolant` has a closed-form conditional only where p_0 = N(0, I): pass it
            together with `Identity` scaling and standard normal x_0.
        time_sampler: None is `VarianceImportance()`, the paper's VI with a floor.
        curriculum: None is `ContractionIntervalAnnealing()` (CIA).
        frame: `fixed-x`, or `trajectory` for the paper's total derivative, under which every KL
            reads 0 (erratum 1).
        n_steps: secants summed for one log ratio, its number of function evaluations.
        anchor: learn on top of a path in closed form (G1); not part of the paper.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training(patience=None)`, since the held-out loss
            need not fall while the intervals still grow.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    builder_: AlignedSecant

    def __init__(
        self,
        model: AlignedSecant | None = None,
        *,
        path: Path | None = None,
        time_sampler: TimeSampler | None = None,
        curriculum: Curriculum | None = None,
        frame: Literal["fixed-x", "trajectory"] = "fixed-x",
        n_steps: int = 5,
        anchor: bool | AnchorRule = False,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.path = path
        self.time_sampler = time_sampler
        self.curriculum = curriculum
        self.frame = frame
        self.n_steps = n_steps
        self.anchor = anchor
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _resolve(self) -> None:
        if self.frame not in ("fixed-x", "trajectory"):
            raise ValueError(f"`frame` must be 'fixed-x' or 'trajectory'; got {self.frame!r}.")
        self.builder_ = AlignedSecant(vectorised=True) if self.model is None else self.model
        self.path_ = DiffusionBridge() if self.path is None else self.path
        self.sampler_ = VarianceImportance() if self.time_sampler is None else self.time_sampler
        self.curriculum_ = (
            ContractionIntervalAnnealing() if self.curriculum is None else self.curriculum
        )
        self.scaling_rule_ = Standardise() if self.scaling is None else self.scaling
        self.training_ = Training(patience=None) if self.training is None else self.training
        self.anchor_ = resolved_anchor(self.anchor)
        self.rule_ = SecantSteps(self.n_steps)

    def _selection_target(self, prepared: Prepared) -> Target:
        return ImpliedVelocity(prepared.moments, tangents_only=self.curriculum_.tangents_only)

    def _objective(self, prepared: Prepared) -> Objective:
        target = ConditionalSecantAlignment(
            prepared.moments, vectorised=self.builder_.vectorised, frame=self.frame
        )
        sampler = conditional_sampler(self.sampler_, target, self.path_, prepared)
        warn_unless_standard_normal(self.path_, prepared)
        return Objective(target, self.path_, sampler, self.curriculum_)
