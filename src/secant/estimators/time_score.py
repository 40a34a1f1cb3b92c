"""Tangent methods: learn the time score s(x, t), then integrate it over [0, 1]."""

from __future__ import annotations

import abc

import jax
import numpy as np
from jaxtyping import Array, Float

from secant.curricula import FullIntervals
from secant.estimators.conditional import conditional_sampler, warn_unless_standard_normal
from secant.estimators.path_ratio import PathRatio
from secant.estimators.preparation import Prepared
from secant.estimators.scaling import ScalingRule, Standardise
from secant.integration import Rule, Trapezoid
from secant.models.joint import JointScoreNetwork
from secant.models.secant_function import ModelBuilder
from secant.models.tangent import TangentNetwork
from secant.paths import DiffusionBridge, DiffusionInterpolant, Path
from secant.schedules import Foellmer
from secant.targets.batch import Target
from secant.targets.conditional import ConditionalTimeScore
from secant.targets.time_score_matching import (
    ConstantWeight,
    FadingWeight,
    JointScoreMatching,
    TimeScoreMatching,
    TimeWeight,
)
from secant.targets.velocity import ImpliedVelocity
from secant.time_samplers import TimeSampler, Uniform
from secant.training.pairing import Pairing
from secant.training.settings import Training
from secant.training.sources import PairedSource, Source
from secant.training.step import Objective

__all__ = ["CTSM", "D3RE", "DREInfinity", "TimeScoreRatio"]


class TimeScoreRatio(PathRatio):
    """A tangent network whose integral over time is the log ratio."""

    model: ModelBuilder | None
    path: Path | None
    rule: Rule | None
    scaling: ScalingRule | None
    training: Training | None

    @abc.abstractmethod
    def _default_model(self) -> ModelBuilder:
        """What `model=None` means."""

    @abc.abstractmethod
    def _default_path(self) -> Path:
        """What `path=None` means."""

    def _resolve(self) -> None:
        self.builder_ = self._default_model() if self.model is None else self.model
        self.path_ = self._default_path() if self.path is None else self.path
        self.rule_ = Trapezoid(50) if self.rule is None else self.rule
        if not isinstance(self.rule_, Rule):
            raise TypeError(f"`rule` must be a Rule or None; got {self.rule_!r}.")
        self.scaling_rule_ = Standardise() if self.scaling is None else self.scaling
        self.training_ = Training() if self.training is None else self.training


class CTSM(TimeScoreRatio):
    """Conditional time-score matching [@yu2025density]: regress s(x, t) on (C1), (L1) at l = t.

    Args:
        model: the tangent network; None is `TangentNetwork(vectorised=…)`.
        path: None is `DiffusionBridge()`, for any two samples. `DiffusionInterpolant` is the
            one-sided path: pass it together with `Identity` scaling and x_0 ~ N(0, I).
        vectorised: regress coordinate by coordinate (CTSM-v) or on the sum.
        time_sampler: None is `Uniform()`.
        rule: how the time score is integrated; None is `Trapezoid(50)`.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        model: ModelBuilder | None = None,
        *,
        path: Path | None = None,
        vectorised: bool = True,
        time_sampler: TimeSampler | None = None,
        rule: Rule | None = None,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.path = path
        self.vectorised = vectorised
        self.time_sampler = time_sampler
        self.rule = rule
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _default_model(self) -> ModelBuilder:
        return TangentNetwork(vectorised=self.vectorised)

    def _default_path(self) -> Path:
        return DiffusionBridge()

    def _selection_target(self, prepared: Prepared) -> Target:
        return ImpliedVelocity(prepared.moments)

    def _objective(self, prepared: Prepared) -> Objective:
        target = ConditionalTimeScore(prepared.moments, vectorised=self.vectorised)
        sampler = Uniform() if self.time_sampler is None else self.time_sampler
        times = conditional_sampler(sampler, target, self.path_, prepared)
        warn_unless_standard_normal(self.path_, prepared)
        return Objective(target, self.path_, times, FullIntervals())


class DREInfinity(TimeScoreRatio):
    """DRE-∞ [@choi2022density]: time-score matching (T1) on a path of infinitely many waymarks.

    Args:
        model: the tangent network; None is `TangentNetwork()`, or `JointScoreNetwork()` if joint.
        path: None is `DiffusionInterpolant(Foellmer())`.
        joint: also learn ∇_x log p_t with the same trunk (T2).
        weight: λ(t); None is `FadingWeight()`, 1 − t².
        rule: how the time score is integrated; None is `Trapezoid(50)`. `RungeKutta()` is the
            adaptive solver of the original.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        model: ModelBuilder | None = None,
        *,
        path: Path | None = None,
        joint: bool = False,
        weight: TimeWeight | None = None,
        rule: Rule | None = None,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.path = path
        self.joint = joint
        self.weight = weight
        self.rule = rule
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _default_model(self) -> ModelBuilder:
        return JointScoreNetwork() if self.joint else TangentNetwork()

    def _default_path(self) -> Path:
        return DiffusionInterpolant(Foellmer())

    def _objective(self, prepared: Prepared) -> Objective:
        del prepared
        weight = FadingWeight() if self.weight is None else self.weight
        return _matching(self.path_, weight, joint=self.joint)


class D3RE(TimeScoreRatio):
    """D3RE [@chen2025dequantified]: time-score matching (T1) on the dequantified bridge (DDBI).

    Args:
        model: the tangent network; None is `TangentNetwork()`, or `JointScoreNetwork()` if joint.
        path: None is `DiffusionBridge(gamma=0.1, epsilon=0.005)`, the authors' γ and ε.
        joint: also learn ∇_x log p_t with the same trunk (T2).
        pairing: how rows of a batch are paired before they are joined by the path; None leaves
            them independent, `OptimalTransport()` pairs near rows. The target, the held-out loss
            and the path all follow the re-paired rows.
        rule: how the time score is integrated; None is `Trapezoid(50)`.
        scaling: of the columns; None is `Standardise()`.
        training: budget and optimiser; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: seed of everything random.
    """

    def __init__(
        self,
        model: ModelBuilder | None = None,
        *,
        path: Path | None = None,
        joint: bool = False,
        pairing: Pairing | None = None,
        rule: Rule | None = None,
        scaling: ScalingRule | None = None,
        training: Training | None = None,
        progress: bool | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.path = path
        self.joint = joint
        self.pairing = pairing
        self.rule = rule
        self.scaling = scaling
        self.training = training
        self.progress = progress
        self.random_state = random_state

    def _default_model(self) -> ModelBuilder:
        return JointScoreNetwork() if self.joint else TangentNetwork()

    def _default_path(self) -> Path:
        return DiffusionBridge(gamma=0.1, epsilon=0.005)

    def _resolve(self) -> None:
        super()._resolve()
        if not isinstance(self.pairing, Pairing | None):
            raise TypeError(f"`pairing` must be a Pairing or None; got {self.pairing!r}.")

    def _source(self, prepared: Prepared) -> Source:
        if self.pairing is None:
            return prepared.source
        return PairedSource(prepared.source, self.pairing)

    def _paired(
        self, x_0: Float[Array, "n d"], x_1: Float[Array, "n d"]
    ) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        if self.pairing is None:
            return x_0, x_1
        return self.pairing.in_blocks(x_0, x_1, self.training_.batch_size, key=jax.random.key(0))

    def _objective(self, prepared: Prepared) -> Objective:
        del prepared
        return _matching(self.path_, ConstantWeight(), joint=self.joint)


def _matching(path: Path, weight: TimeWeight, *, joint: bool) -> Objective:
    target = JointScoreMatching(weight) if joint else TimeScoreMatching(weight)
    return Objective(target, path, Uniform(), FullIntervals())
