"""Tangent methods: learn the time score s(x, t), then integrate it over [0, 1]."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from secant.estimators._base import RatioEstimator
from secant.estimators.neural import PathMixin, composed
from secant.fitting import Method
from secant.integration import Rule, Trapezoid
from secant.models.secant_function import ModelBuilder
from secant.models.tangent import JointScoreNetwork, TangentNetwork
from secant.paths import DiffusionBridge, DiffusionInterpolant, Path
from secant.scaling import ScalingRule
from secant.schedules import Foellmer
from secant.targets.conditional import ConditionalTimeScore
from secant.targets.time_score_matching import (
    ConstantWeight,
    FadingWeight,
    JointScoreMatching,
    TimeScoreMatching,
    TimeWeight,
)
from secant.time_samplers import TimeSampler
from secant.training.optimisers import Optimiser
from secant.training.pairing import Pairing
from secant.training.settings import Training


@dataclass(eq=False, repr=False)
class CTSM(PathMixin, RatioEstimator):
    """Conditional time-score matching [@yu2025density]: regress s(x, t) on (C1), (L1) at l = t.

    Args:
        model: the tangent network; None is `TangentNetwork(vectorised=…)`.
        path: None is `DiffusionBridge()`, for any two samples. `DiffusionInterpolant` is the
            one-sided path: pass it together with `Identity` scaling and x_0 ~ N(0, I).
        vectorised: regress coordinate by coordinate (CTSM-v) or on the sum.
        time_sampler: None is `Uniform()`.
        rule: how the time score is integrated; None is `Trapezoid(50)`.
        scaling: of the columns; None is `Standardise()`.
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.
    """

    model: ModelBuilder | None = None
    _: KW_ONLY
    path: Path | None = None
    vectorised: bool = True
    time_sampler: TimeSampler | None = None
    rule: Rule | None = None
    scaling: ScalingRule | None = None
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def _method(self, n_rows: float, n_features: int) -> Method:
        del n_rows, n_features
        return composed(
            self,
            model=TangentNetwork(vectorised=self.vectorised),
            path=DiffusionBridge(),
            target=ConditionalTimeScore(vectorised=self.vectorised),
            rule=Trapezoid(50),
        )


@dataclass(eq=False, repr=False)
class DREInfinity(PathMixin, RatioEstimator):
    """DRE-∞ [@choi2022density]: time-score matching (T1) on a path of infinitely many waymarks.

    Args:
        model: the tangent network; None is `TangentNetwork()`, or `JointScoreNetwork()` if joint.
        path: None is `DiffusionInterpolant(Foellmer())`.
        joint: also learn ∇_x log p_t with the same trunk (T2).
        weight: λ(t); None is `FadingWeight()`, 1 − t².
        rule: how the time score is integrated; None is `Trapezoid(50)`. `RungeKutta()` is the
            adaptive solver of the original.
        scaling: of the columns; None is `Standardise()`.
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.
    """

    model: ModelBuilder | None = None
    _: KW_ONLY
    path: Path | None = None
    joint: bool = False
    weight: TimeWeight | None = None
    rule: Rule | None = None
    scaling: ScalingRule | None = None
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def _method(self, n_rows: float, n_features: int) -> Method:
        del n_rows, n_features
        weight = FadingWeight() if self.weight is None else self.weight
        if not isinstance(weight, TimeWeight):
            raise TypeError(f"`weight` must be a TimeWeight or None; got {weight!r}.")
        return composed(
            self,
            **_matching(weight, joint=self.joint),
            path=DiffusionInterpolant(Foellmer()),
            rule=Trapezoid(50),
        )


@dataclass(eq=False, repr=False)
class D3RE(PathMixin, RatioEstimator):
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
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.
    """

    model: ModelBuilder | None = None
    _: KW_ONLY
    path: Path | None = None
    joint: bool = False
    pairing: Pairing | None = None
    rule: Rule | None = None
    scaling: ScalingRule | None = None
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def _method(self, n_rows: float, n_features: int) -> Method:
        del n_rows, n_features
        return composed(
            self,
            **_matching(ConstantWeight(), joint=self.joint),
            path=DiffusionBridge(gamma=0.1, epsilon=0.005),
            rule=Trapezoid(50),
        )


def _matching(weight: TimeWeight, *, joint: bool) -> dict[str, object]:
    """The default model and the target (T1), or (T2)."""
    if joint:
        return {"model": JointScoreNetwork(), "target": JointScoreMatching(weight)}
    return {"model": TangentNetwork(), "target": TimeScoreMatching(weight)}
