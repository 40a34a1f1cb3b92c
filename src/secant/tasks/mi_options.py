"""How mutual information is estimated."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sklearn.base import clone

from secant.estimators import GaussianMoments, PathEntropy, RatioEstimator
from secant.sizing import FEW_ROWS
from secant.tasks.cross_fitting import checked_ensemble, checked_estimator, checked_folds
from secant.tasks.defaults import default_ratio
from secant.tasks.dependence import CrossFitPlan
from secant.tasks.fit_record import one_line
from secant.tasks.intervals import checked_confidence
from secant.tasks.mi_result import Base, unit_of
from secant.tasks.permutation import checked_permutations

__all__ = ["MIOptions"]


@dataclass(frozen=True)
class MIOptions:
    """How mutual information is estimated.

    Attributes:
        estimator: of the ratio, or a `PathEntropy`; None is a `ChasmSwitch` between a classifier on
            a Gaussian anchor and `SecantRatio`, with networks that suit the number of rows.
        n_folds: every row is scored by a fit on the other folds; None is 5 below 5,000 rows and 2
            from there on.
        n_ensemble: fits a fold, whose log ratios are averaged.
        n_permutations: re-pairings behind the p-value, whose least value is 1/(n_permutations + 1).
        normal_margins: replace every column by its normal scores, which leaves the information
            unchanged and makes the answer free of scale and tails.
        correct: add what fits from so many rows fall short by, measured on rows drawn from the fit
            itself. Only where the ratio can be normalised and is below three nats on average, for
            elsewhere such rows are not like the data; doubles the time.
        second_opinion: also estimate along the path (F1); True is `PathEntropy` with settings that
            suit the number of rows. Left out where a column has many equal values.
        base: "nats" or "bits".
        confidence: of the interval.
    """

    estimator: RatioEstimator | PathEntropy | None = None
    n_folds: int | None = None
    n_ensemble: int = 1
    n_permutations: int = 199
    normal_margins: bool = True
    correct: bool = True
    second_opinion: bool | PathEntropy = True
    base: Base = "nats"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        unit_of(self.base)
        checked_ensemble(self.n_ensemble)
        checked_permutations(self.n_permutations)
        checked_confidence(self.confidence)

    def as_text(self, random_state: object) -> dict[str, str]:
        """All of it and the seed, for a reader."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: one_line(v) for name, v in {**values, "random_state": random_state}.items()}

    def plan(self, n: int) -> CrossFitPlan:
        """The cross-fit of n rows."""
        folds = self.n_folds
        if folds is None:
            folds = 5 if n < FEW_ROWS else 2
        checked_folds(folds, n)
        estimator = self.estimator
        assert not isinstance(estimator, PathEntropy)
        chosen = default_ratio(n) if estimator is None else checked_estimator(estimator)
        return CrossFitPlan(
            chosen, folds, self.n_ensemble, self.n_permutations, self.normal_margins
        )

    def path_entropy(self) -> PathEntropy | None:
        """The estimator along the path, if one is wanted."""
        if isinstance(self.second_opinion, PathEntropy):
            return clone(self.second_opinion)
        return PathEntropy(anchor=GaussianMoments()) if self.second_opinion else None
