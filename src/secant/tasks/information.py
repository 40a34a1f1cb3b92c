"""Options and results of mutual information."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float
from sklearn.base import clone

from secant._host.notebook import Summarised, fragment
from secant.diagnostics import RatioDiagnostics
from secant.estimators import ChasmSwitch, GaussianMoments, PathEntropy, RatioEstimator
from secant.scaling import Standardise
from secant.sizing import FEW_ROWS
from secant.tasks.cross_fitting import checked_ensemble, checked_estimator, checked_folds, repr_line
from secant.tasks.dependence import CrossFitPlan
from secant.tasks.inference import checked_confidence, checked_permutations, normal_interval
from secant.tasks.model_choice import default_ratio

Unit = Literal["nats", "bits"]

_NATS = {"nats": 1.0, "bits": math.log(2.0)}


def unit_of(base: Unit) -> float:
    """The unit in nats."""
    if base not in _NATS:
        raise ValueError(f"`base` must be 'nats' or 'bits'; got {base!r}.")
    return _NATS[base]


def default_ratio_for_scores(n: int) -> ChasmSwitch:
    """The default estimator of the ratio for n rows of normal scores.

    They need no further table of their margins: it would follow the noise of a fold.
    """
    return default_ratio(n, scaling=Standardise())


@dataclass(frozen=True)
class MIOptions:
    """Options for estimating mutual information.

    Attributes:
        estimator: of the ratio, or a `PathEntropy`; None is a `ChasmSwitch` between a classifier on
            a Gaussian anchor and `SecantRatio`, with networks that suit the number of rows.
        n_folds: number of folds; None is 5 below 5,000 rows and 2 from there on.
        n_ensemble: fits per fold, whose log ratios are averaged.
        n_permutations: permutations for the p-value, which is at least 1/(n_permutations + 1).
        normal_margins: replace every column by its normal scores. This leaves the information
            unchanged and removes scale and tails.
        correct: add a bias correction by parametric bootstrap, which doubles the time. Only if the
            ratio can be normalised and is below three nats on average.
        second_opinion: also estimate along the path (F1); True is `PathEntropy` with settings for
            the number of rows. Not used if a column has many equal values.
        base: "nats" or "bits".
        confidence: level of the interval.
    """

    estimator: RatioEstimator | PathEntropy | None = None
    n_folds: int | None = None
    n_ensemble: int = 1
    n_permutations: int = 199
    normal_margins: bool = True
    correct: bool = True
    second_opinion: bool | PathEntropy = True
    base: Unit = "nats"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        unit_of(self.base)
        checked_ensemble(self.n_ensemble)
        checked_permutations(self.n_permutations)
        checked_confidence(self.confidence)

    def as_text(self, random_state: object) -> dict[str, str]:
        """The options and the seed as text."""
        values = {**vars(self), "random_state": random_state}
        return {name: repr_line(value) for name, value in values.items()}

    def plan(self, n: int) -> CrossFitPlan:
        """The settings of the cross-fit for n rows."""
        folds = self.n_folds
        if folds is None:
            folds = 5 if n < FEW_ROWS else 2
        checked_folds(folds, n)
        estimator = self.estimator
        assert not isinstance(estimator, PathEntropy)
        if estimator is not None:
            chosen = checked_estimator(estimator)
        else:
            chosen = default_ratio_for_scores(n) if self.normal_margins else default_ratio(n)
        return CrossFitPlan(
            chosen, folds, self.n_ensemble, self.n_permutations, self.normal_margins
        )

    def path_entropy(self) -> PathEntropy | None:
        """The estimator along the path, if requested."""
        if isinstance(self.second_opinion, PathEntropy):
            return clone(self.second_opinion)
        return PathEntropy(anchor=GaussianMoments()) if self.second_opinion else None


@dataclass(frozen=True)
class OnPath:
    """The second opinion: mutual information along the path (F1), without pointwise values."""

    estimate: float
    standard_error: float


@dataclass(frozen=True)
class MutualInformation(Summarised):
    """Mutual information (or total correlation) with its error.

    Attributes:
        estimate: in `base`; it may be slightly below 0 for independent variables.
        standard_error: of the estimate; includes half of the correction.
        p_value: of independence, by permutation; NaN if not available.
        pointwise: (n,) out-of-fold log ratio of each row; their mean is the estimate. None for an
            estimator without pointwise values.
        correction: the bias correction that was added to every value.
        base: "nats" or "bits".
        confidence: level of the interval.
        is_normalised: whether E_{p_0}[r̂] = 1 was imposed; if not, the bias is of first order in the
            error of log r̂.
        diagnostics: of every fit.
        on_path: the estimate along the path, if requested.
        settings: options by name, as text.
    """

    estimate: float
    standard_error: float
    p_value: float
    pointwise: Float[np.ndarray, " n"] | None
    correction: float
    base: Unit
    confidence: float
    is_normalised: bool
    diagnostics: tuple[RatioDiagnostics, ...]
    on_path: OnPath | None = None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The normal confidence interval."""
        return normal_interval(self.estimate, self.standard_error, self.confidence)

    @property
    def opinions_differ(self) -> bool:
        """Whether the two estimates differ by more than two standard errors of the difference."""
        if self.on_path is None:
            return False
        error = math.hypot(self.standard_error, self.on_path.standard_error)
        return abs(self.estimate - self.on_path.estimate) > 2.0 * error

    def __float__(self) -> float:
        """The estimate."""
        return self.estimate

    def __str__(self) -> str:
        """One line for the estimate, and one for each caveat."""
        low, high = self.interval
        lines = [
            f"{self.estimate:.4f} ± {self.standard_error:.4f} {self.base}, "
            f"{self.confidence:.0%} interval [{low:.4f}, {high:.4f}]"
        ]
        if not math.isnan(self.p_value):
            lines.append(f"independence: p = {self.p_value:.3g}")
        if not self.is_normalised and self.pointwise is not None:
            lines.append("the ratio could not be normalised: its tail is too heavy")
        if self.opinions_differ and self.on_path is not None:
            lines.append(
                f"on the path: {self.on_path.estimate:.4f} ± {self.on_path.standard_error:.4f} "
                f"{self.base}; the two disagree by more than their errors"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks."""
        first, *more = str(self).splitlines()
        return fragment(f"mutual information {first}", [("", line) for line in more])
