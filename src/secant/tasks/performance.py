"""A metric of a model on new rows without labels, from weighted reference rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from secant._host.notebook import fragment
from secant.diagnostics import effective_sample_size, log_normaliser
from secant.estimators import RatioEstimator
from secant.exceptions import OverlapError
from secant.tables import Missing
from secant.tasks.column_bases import HingeColumns
from secant.tasks.cross_fitting import CrossFit, cross_fit
from secant.tasks.divergence_intervals import regression_features, regression_of
from secant.tasks.given_tables import GivenTables
from secant.tasks.importance import check_clip
from secant.tasks.inference import checked_confidence
from secant.tasks.model_choice import are_apart
from secant.tasks.tilted_bootstrap import refitted_log_ratios
from secant.tasks.weight_support import WeightSupport, fold_normalised
from secant.tasks.weighted_metric import Metric, WeightedMetric

_DRAWS = 200
_AT_ONCE = 50
_RIDGE = 1.0  # of the calibration
_MOST_UNLIKE = 0.1  # maximum share of new rows that are unlike every reference row


@dataclass(frozen=True, eq=False)
class PerformanceEstimate:
    """A metric of a model on new rows, without their labels.

    Attributes:
        metric: its name.
        estimate: over the reference's rows, weighted to represent the new ones (J6).
        interval: for the metric on these new rows with their unknown labels (W1).
        confidence: level of the interval.
        reference: the metric over the unweighted reference rows.
        effective_sample_size: of the weighted reference rows.
        support: effective sample size and tail of the weights.
        unlike: share of the new rows that are unlike every reference row, about which nothing is
            known.
        weights: (n,) of the reference's rows, of mean 1.
    """

    metric: str
    estimate: float
    interval: tuple[float, float]
    confidence: float
    reference: float
    effective_sample_size: float
    support: WeightSupport
    unlike: float
    weights: Float[np.ndarray, " n"] = field(repr=False)

    @property
    def change(self) -> float:
        """The estimate minus the metric on the reference."""
        return self.estimate - self.reference

    @property
    def has_changed(self) -> bool:
        """Whether the metric on the reference lies outside the interval."""
        low, high = self.interval
        return not low <= self.reference <= high

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.metric} on the new rows: {self.estimate:.4g} "
            f"({100 * self.confidence:g} % interval {low:.4g} to {high:.4g}); "
            f"on the reference {self.reference:.4g}\n"
            f"{self.support}; {100 * self.unlike:.2g} % of the new rows are unlike every "
            "reference row"
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        title, *rest = str(self).splitlines()
        return fragment(title, [("rows", line) for line in rest])


def estimate_performance(
    model: object,
    X_ref: ArrayLike,
    y_ref: ArrayLike,
    X_new: ArrayLike,
    metric: Metric = "accuracy",
    *,
    ratio: RatioEstimator | None = None,
    n_folds: int = 5,
    clip: float | None = None,
    confidence: float = 0.95,
    missing: Missing | str = Missing.REFUSE,
    random_state: int | np.random.RandomState | None = None,
) -> PerformanceEstimate:
    """Estimate a metric of a fitted model on new rows that have no labels.

    The reference rows are weighted by p_new(x)/p_ref(x), out of fold and calibrated (W1), and the
    metric is computed over them. This assumes covariate shift: the outcome depends on the columns
    as before. A change of that dependence cannot be detected without labels.

    Args:
        model: a fitted classifier or regressor; or its predictions for X_ref, an array: classes or
            numbers (n,), scores of the second class (n,), or probabilities (n, k).
        X_ref: (n, d) rows with known outcome, not used to fit the model; an array or a data frame.
        y_ref: (n,) their outcome.
        X_new: (m, d) new rows, with the same columns.
        metric: the name of a scorer of scikit-learn ("accuracy", "roc_auc", "r2", …), a scorer, or
            a function of y_true and y_pred.
        ratio: estimator of the log ratio; None chooses by the loss on held-out rows.
        n_folds: number of folds; weights are out of fold.
        clip: maximum weight in units of the mean; None for no maximum.
        confidence: level of the interval.
        missing: treatment of missing values of data frames by the ratio: "refuse" or "impute".
        random_state: random seed.

    Raises:
        OverlapError: the reference does not represent the new rows.

    Examples:
        >>> import numpy as np, secant
        >>> from sklearn.linear_model import LogisticRegression
        >>> rng = np.random.default_rng(0)
        >>> X, X_new = rng.normal(size=(1500, 2)), rng.normal([1.0, 0.0], 1.0, (800, 2))
        >>> y = (X[:, 0] + rng.normal(0, 1, 1500) > 0).astype(int)  # easier for large x
        >>> model = LogisticRegression().fit(X[:500], y[:500])
        >>> found = secant.estimate_performance(
        ...     model, X[500:], y[500:], X_new, metric="accuracy", random_state=0
        ... )
        >>> bool(found.interval[0] > found.reference)
        True
    """
    checked_confidence(confidence)
    check_clip(clip)
    rng = check_random_state(random_state)
    if Missing(missing) is Missing.DROP:
        raise ValueError('`missing` must be "refuse" or "impute": a dropped row has a label.')
    tables = GivenTables.of(X_ref, X_new, names=("X_ref", "X_new"), missing=missing)
    outcome = _checked_outcome(y_ref, len(tables.x_0))
    value = WeightedMetric(metric, model, X_ref, outcome)
    reference = value(np.ones(outcome.size))  # first: a model that cannot predict fails at once
    scores = cross_fit(
        ratio, tables.x_0, tables.x_1, n_folds=n_folds, names=("X_ref", "X_new"), random_state=rng
    )
    score = np.concatenate(fold_normalised(scores))
    labels = np.repeat([0, 1], [len(tables.x_0), len(tables.x_1)])
    log_ratio = _calibrated(score, labels)
    support = WeightSupport.of(_centred(log_ratio[labels == 0]), log_ratio[labels == 1])
    unlike = float(np.mean(score[labels == 1] > score[labels == 0].max()))
    _refuse(scores, support, unlike)
    weights = _weights(log_ratio[labels == 0], clip)
    estimate = value(weights)
    draws = _draws(value, _Bootstrap.of(scores, tables, score, labels), weights, clip, rng)
    return PerformanceEstimate(
        value.name,
        estimate,
        _interval(value.name, estimate, draws, confidence),
        confidence,
        reference,
        effective_sample_size(np.log(weights)),
        support,
        unlike,
        weights,
    )


def _checked_outcome(y_ref: ArrayLike, n: int) -> np.ndarray:
    y = np.asarray(y_ref)
    if y.shape != (n,):
        raise ValueError(
            f"`y_ref` must have shape ({n},), one value per row of `X_ref`; got {y.shape}."
        )
    return y


def _calibrated(
    score: Float[np.ndarray, " n"],
    labels: Int[np.ndarray, " n"],
    counts: Float[np.ndarray, " n"] | None = None,
) -> Float[np.ndarray, " n"]:
    """Log ratio as a piecewise linear function of a score, by logistic regression of the labels.

    It is constant beyond the outermost 1 % of the rows, which bounds the weights.
    """
    spread = score.std()
    if not spread > 1e-9:
        return np.zeros(score.size)
    features = HingeColumns().fit_transform((score / spread)[:, None])
    model = LogisticRegression(C=1.0 / _RIDGE, solver="newton-cholesky")
    model.fit(features, labels, sample_weight=counts)
    prior = np.log(labels.sum() / (1 - labels).sum())
    return np.asarray(model.decision_function(features) - prior)


def _centred(log_weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Log weights, shifted so that the mean weight is 1."""
    return log_weights - log_normaliser(log_weights).log_value


def _weights(log_weights: Float[np.ndarray, " n"], clip: float | None) -> Float[np.ndarray, " n"]:
    weights = np.exp(_centred(log_weights))
    if clip is None:
        return weights
    weights = np.minimum(weights, clip)
    return np.asarray(weights / weights.mean())


def _refuse(scores: CrossFit, support: WeightSupport, unlike: float) -> None:
    """Refuse weights that do not represent the new rows."""
    why = ""
    if are_apart(scores.log_ratio_0, scores.log_ratio_1):
        why = "a classifier tells the reference and the new rows apart without error"
    elif unlike > _MOST_UNLIKE:
        why = f"{100 * unlike:.0f} % of the new rows are unlike every reference row"
    elif not support.has_rows:
        why = f"the weights leave too few reference rows ({support})"
    if why:
        raise OverlapError(
            f"The performance on `X_new` cannot be estimated for want of overlap: {why}. Label "
            "some of the new rows, collect reference rows like them, or leave out columns that the "
            "outcome does not depend on."
        )


@dataclass(frozen=True)
class _Bootstrap:
    """The model that is refitted in each draw: a regression, or the calibration of a score.

    Attributes:
        features: of the regression; None for another model, whose score is not refitted.
        ridge: penalty of the regression.
        score: (n,) out of fold.
        labels: (n,) 0 or 1.
    """

    features: Float[np.ndarray, "n k"] | None
    ridge: float
    score: Float[np.ndarray, " n"]
    labels: Int[np.ndarray, " n"]

    @classmethod
    def of(
        cls,
        scores: CrossFit,
        tables: GivenTables,
        score: Float[np.ndarray, " n"],
        labels: Int[np.ndarray, " n"],
    ) -> _Bootstrap:
        if regression_of(scores) is None:
            return cls(None, 0.0, score, labels)
        return cls(*regression_features(scores, tables.x_0, tables.x_1), score, labels)

    def log_ratios(self, counts: Float[np.ndarray, "b n"]) -> Iterator[Float[np.ndarray, " n_0"]]:
        """Log ratios of the reference rows, for each draw."""
        each = np.repeat(self.score[None], len(counts), axis=0)
        if self.features is not None:
            each = refitted_log_ratios(self.features, self.labels, counts, ridge=self.ridge)
        for score, drawn in zip(each, counts, strict=True):
            yield _calibrated(score, self.labels, drawn)[self.labels == 0]


def _draws(
    value: WeightedMetric,
    bootstrap: _Bootstrap,
    weights: Float[np.ndarray, " n"],
    clip: float | None,
    rng: np.random.RandomState,
) -> Float[np.ndarray, " b"]:
    """Deviations from the estimate, by the weights and by the unknown labels (W1).

    A bootstrap over the rows of each sample, with refitted weights in each draw.
    """
    m, n = int(bootstrap.labels.sum()), weights.size
    (full,) = bootstrap.log_ratios(np.ones((1, n + m)))
    centre, come = value(_weights(full, clip)), value(weights)
    found = []
    for start in range(0, _DRAWS, _AT_ONCE):
        size = min(_AT_ONCE, _DRAWS - start)
        each = [rng.multinomial(k, np.full(k, 1.0 / k), size=size) for k in (n, m)]
        counts = np.concatenate(each, axis=1).astype(np.float64)
        come_true = rng.multinomial(m, weights / weights.sum(), size=size).astype(np.float64)
        found += [
            (value(_weights(drawn, clip) * count[:n]) - centre) + (value(outcome) - come)
            for drawn, count, outcome in zip(
                bootstrap.log_ratios(counts), counts, come_true, strict=True
            )
        ]
    return np.array(found)


def _interval(
    name: str, estimate: float, draws: Float[np.ndarray, " b"], confidence: float
) -> tuple[float, float]:
    """Quantiles of the draws around the estimate, within the range of the metric."""
    known = draws[np.isfinite(draws)]
    if known.size < _DRAWS // 2:
        return math.nan, math.nan
    tail = 0.5 * (1.0 - confidence)
    low, high = estimate + np.quantile(known, [tail, 1.0 - tail])
    most = 0.0 if name.startswith("neg_") else 1.0 if name in _AT_MOST_ONE else math.inf
    least = 0.0 if name in _AT_LEAST_ZERO else -math.inf
    return float(max(low, least)), float(min(high, most))


_AT_LEAST_ZERO = {
    *("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "top_k_accuracy"),
    *(
        f"{kind}{mean}"
        for kind in ("f1", "precision", "recall", "jaccard")
        for mean in ("", "_macro", "_micro", "_weighted")
    ),
}
_AT_MOST_ONE = _AT_LEAST_ZERO | {"r2", "explained_variance", "matthews_corrcoef"}
