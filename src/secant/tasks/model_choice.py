"""The default models of a ratio, and the choice among them by the held-out loss."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from secant.estimators import (
    AdaptiveMargins,
    ChasmSwitch,
    ClassifierRatio,
    GaussianMoments,
    RatioEstimator,
    SecantRatio,
    SklearnRatio,
)
from secant.exceptions import OverlapWarning, UntrainedWarning
from secant.scaling import ScalingRule
from secant.sizing import FEW_ROWS, training_for
from secant.tasks.column_bases import Basis, basis_size, design, logistic_pipeline

Labels = Int[np.ndarray, " n"]
Values = Float[np.ndarray, " n"]

_BASES: tuple[Basis, ...] = ("linear", "quadratic", "additive")
_NAMES: dict[Basis, str] = {
    "linear": "linear logistic regression",
    "quadratic": "quadratic logistic regression",
    "additive": "additive logistic regression",
}
_TREES, _NETWORK = "boosted trees", "neural network"
_RIDGES = (1.0, 10.0, 100.0)
_MOST_FEATURES = 100
_ROWS_A_FEATURE = 4  # of the smaller sample
_ROWS_FOR_TREES = 300  # below, trees beat a regression on no pair of the suite
_MOST_ROWS = 5000  # rows of each sample used for the choice
_STEPS = 400  # training steps of a network for the choice
_FOLDS = 5
# With fewer misclassified rows a classifier cannot be trained further: the samples are disjoint.
_FEWEST_WRONG = 10
_SHARE_WRONG = 0.02  # of fewer than 500 rows


@dataclass(frozen=True)
class Look:
    """The held-out loss of one model.

    Attributes:
        name: of the model.
        loss: mean logistic loss with equal weight of both samples; log 2 for a constant ratio.
        behind: difference to the loss of the best model.
        behind_error: standard error of the difference, from paired rows.
    """

    name: str
    loss: float
    behind: float
    behind_error: float


@dataclass(frozen=True)
class ModelChoice:
    """The model chosen for two samples, and why.

    Attributes:
        estimator: unfitted.
        name: of the model.
        looks: losses of all candidates, the best first.
        rivals: other regressions or penalties whose loss is not significantly larger.
        reason: in one sentence.
    """

    estimator: RatioEstimator
    name: str
    looks: tuple[Look, ...]
    rivals: tuple[Pipeline, ...] = field(repr=False)
    reason: str


@dataclass(frozen=True)
class _Candidate:
    """A model with held-out log ratios of the pooled rows, which have these labels."""

    name: str
    estimator: RatioEstimator
    log_ratio: Values
    labels: Labels

    @cached_property
    def losses(self) -> Values:
        """The logistic loss of each row."""
        signed = np.where(self.labels == 1, self.log_ratio, -self.log_ratio)
        return -np.asarray(log_expit(signed))

    @property
    def loss(self) -> float:
        """Their mean, with equal weight of both samples."""
        return self._mean(self.losses)

    def look(self, best: _Candidate) -> Look:
        """The loss, and how far it is behind the best, by paired rows."""
        behind = self.losses - best.losses
        parts = (behind[self.labels == k] for k in (0, 1))
        error = 0.5 * np.sqrt(sum(part.var() / part.size for part in parts))
        return Look(self.name, self.loss, self._mean(behind), float(error))

    def _mean(self, values: Values) -> float:
        zero, one = (values[self.labels == k].mean() for k in (0, 1))
        return float(0.5 * zero + 0.5 * one)


def boosted_trees() -> SklearnRatio:
    """Gradient boosting of shallow trees, with early stopping on held-out rows."""
    trees = HistGradientBoostingClassifier(
        max_leaf_nodes=8, learning_rate=0.1, max_iter=200, early_stopping=True
    )
    return SklearnRatio(trees, folds=None)


def chosen_model(
    x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"], rng: np.random.RandomState
) -> ModelChoice:
    """Choose among regressions, trees and a network by the held-out loss.

    Args:
        x_0: rows of p_0; at most 5,000 are used.
        x_1: rows of p_1.
        rng: random numbers for folds and seeds.
    """
    n, d = min(len(x_0), len(x_1)), x_0.shape[1]
    some_0, some_1 = (x[rng.permutation(len(x))[:_MOST_ROWS]] for x in (x_0, x_1))
    rows = np.concatenate([some_0, some_1])
    labels = np.repeat([0, 1], [len(some_0), len(some_1)])
    n_folds = min(_FOLDS, n)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
    found = [c for b in bases_for(n, d) for c in _regressions(b, rows, labels, folds)]
    best = min(found, key=lambda c: c.loss)
    if are_apart(best.log_ratio[labels == 0], best.log_ratio[labels == 1]):
        return _far(default_ratio(n, d), found)
    slower: list[tuple[str, RatioEstimator, RatioEstimator]] = []
    if n >= _ROWS_FOR_TREES:
        slower.append((_TREES, boosted_trees(), boosted_trees()))
    if n >= FEW_ROWS:
        switch = default_ratio(n, d)
        slower.append((_NETWORK, switch, _short_training(switch, n)))
    found += [
        _on_one_fold(name, model, look, best, rows, folds, rng) for name, model, look in slower
    ]
    return _best(found)


def best_regression(
    x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"], rng: np.random.RandomState
) -> RatioEstimator:
    """The logistic regression with the smallest held-out loss on at most 5,000 rows of each."""
    n = min(len(x_0), len(x_1))
    some_0, some_1 = (x[rng.permutation(len(x))[:_MOST_ROWS]] for x in (x_0, x_1))
    rows, labels = np.concatenate([some_0, some_1]), np.repeat([0, 1], [len(some_0), len(some_1)])
    folds = StratifiedKFold(min(_FOLDS, n), shuffle=True, random_state=rng.randint(2**31 - 1))
    found = [c for b in bases_for(n, x_0.shape[1]) for c in _regressions(b, rows, labels, folds)]
    return min(found, key=lambda c: c.loss).estimator


def bases_for(n: int, d: int) -> list[Basis]:
    """Bases with few enough features for n rows of the smaller sample."""
    most = min(_MOST_FEATURES, n // _ROWS_A_FEATURE)
    return [b for b in _BASES if b == "linear" or basis_size(b, d) <= most]


def _regressions(
    basis: Basis, rows: Float[np.ndarray, "n d"], labels: Labels, folds: StratifiedKFold
) -> Iterator[_Candidate]:
    """The regression on a basis for each penalty, the smallest first."""
    features = design(logistic_pipeline(basis, 1.0), rows[labels == 0], rows[labels == 1])
    log_prior = np.log(labels.sum() / (1 - labels).sum())
    for ridge in _RIDGES:
        model = LogisticRegression(C=1.0 / ridge, solver="newton-cholesky")
        log_odds = np.empty(labels.size)
        for train, test in folds.split(features, labels):
            fitted = model.fit(features[train], labels[train])
            log_odds[test] = fitted.decision_function(features[test])
        estimator = SklearnRatio(logistic_pipeline(basis, ridge), folds=None)
        yield _Candidate(_NAMES[basis], estimator, log_odds - log_prior, labels)


def _on_one_fold(
    name: str,
    estimator: RatioEstimator,
    look: RatioEstimator,
    best: _Candidate,
    rows: Float[np.ndarray, "n d"],
    folds: StratifiedKFold,
    rng: np.random.RandomState,
) -> _Candidate:
    """A slower model, evaluated on the first fold; on other rows it has the losses of the best.

    `look` is the estimator fitted here: the candidate itself, or the same with a shorter training.
    """
    labels = best.labels
    train, test = next(iter(folds.split(rows, labels)))
    fitted = clone(look).set_params(random_state=rng.randint(2**31 - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)
        warnings.simplefilter("ignore", UntrainedWarning)
        fitted.fit(rows[train], labels[train])
    log_ratio = best.log_ratio.copy()
    log_ratio[test] = fitted.log_ratio(rows[test])
    return _Candidate(name, estimator, log_ratio, labels)


def _short_training(switch: ChasmSwitch, n: int) -> ClassifierRatio:
    """The default classifier with a short training."""
    near = clone(switch.near)
    assert isinstance(near, ClassifierRatio)
    return near.set_params(training=replace(training_for(n), steps=_STEPS), progress=False)


def are_apart(log_ratio_0: Float[np.ndarray, " n"], log_ratio_1: Float[np.ndarray, " m"]) -> bool:
    """Whether hardly any held-out row is misclassified."""
    wrong = int(np.count_nonzero(log_ratio_0 > 0.0) + np.count_nonzero(log_ratio_1 < 0.0))
    return wrong < min(_FEWEST_WRONG, _SHARE_WRONG * (log_ratio_0.size + log_ratio_1.size))


def _looks(found: list[_Candidate]) -> tuple[Look, ...]:
    """The losses of the models, each with its best penalty, the best model first."""
    by_loss = sorted(found, key=lambda c: c.loss)
    first = {c.name: c for c in reversed(by_loss)}
    return tuple(sorted((c.look(by_loss[0]) for c in first.values()), key=lambda look: look.loss))


def _best(found: list[_Candidate]) -> ModelChoice:
    by_loss = sorted(found, key=lambda c: c.loss)
    looks = ((c, c.look(by_loss[0])) for c in by_loss)
    close = [c for c, look in looks if look.behind <= 2.0 * look.behind_error]
    # A regression can be refitted for intervals, so another model must be significantly better.
    plain = [c for c in close if c.name in _NAMES.values()]
    chosen = plain[0] if plain else by_loss[0]
    each = _looks(found)
    others = ", ".join(f"{x.name} {x.loss:.4f}" for x in each if x.name != chosen.name)
    reason = f"held-out loss {chosen.loss:.4f}" + (f"; {others}" if others else "")
    rivals = _rivals(found, plain, chosen)
    return ModelChoice(chosen.estimator, chosen.name, each, rivals, reason)


def _rivals(
    found: list[_Candidate], plain: list[_Candidate], chosen: _Candidate
) -> tuple[Pipeline, ...]:
    """For each basis, the regression with the smallest penalty that is not significantly worse."""
    close = {id(c) for c in plain}
    least: dict[str, _Candidate] = {}
    for candidate in found:  # the smallest penalty of a basis comes first
        if id(candidate) in close:
            least.setdefault(candidate.name, candidate)
    rivals = [c.estimator for c in least.values() if c is not chosen]
    return tuple(r.classifier for r in rivals if isinstance(r, SklearnRatio))


def _far(estimator: RatioEstimator, found: list[_Candidate]) -> ModelChoice:
    looks = _looks(found)
    reason = (
        f"{looks[0].name} misclassifies hardly any held-out row: a classifier has nothing to learn "
        "from"
    )
    return ModelChoice(estimator, "path between the samples", looks, (), reason)


def default_ratio(
    n: int, n_features: int = 1, *, scaling: ScalingRule | None = None
) -> ChasmSwitch:
    """A classifier on a Gaussian anchor where the samples overlap, `SecantRatio` elsewhere.

    With fewer than ten rows per moment there is no anchor: on 230 rows of ten columns, importance
    weights have an effective sample size of 31 with an anchor and of 160 without.

    The anchor is one Gaussian and no mixture: on the Student copula in 2 + 2 dimensions (2,000
    rows) a mixture adds an error of 0.06 nats, which the classifier does not correct.

    Args:
        n: rows of the smaller sample.
        n_features: number of columns.
        scaling: of both; None is `AdaptiveMargins()`.
    """
    has_anchor = n >= 5 * n_features * (n_features + 3)
    near = ClassifierRatio(
        anchor=GaussianMoments() if has_anchor else False, scaling=scaling or AdaptiveMargins()
    )
    return ChasmSwitch(near, SecantRatio(scaling=scaling))
