"""IsotonicRatio: any ratio estimator, calibrated by isotonic regression on held-out rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.special import logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from secant.estimators._base import RatioEstimator
from secant.estimators.checks import is_count
from secant.estimators.classifier import classifier_unless
from secant.estimators.direct import DirectDiagnostics, HeldOutRatios, stratified_folds
from secant.exceptions import OverlapWarning, UntrainedWarning
from secant.samples import Sample


@dataclass(eq=False, repr=False)
class IsotonicRatio(RatioEstimator):
    """log r = logit P(1 | ĝ), with an isotonic P of the out-of-fold score ĝ of an estimator (Q3).

    The order of rows is that of ĝ, except for ties; the values are those of the data. The mean
    ratio over the held-out rows of x_0 is 1, apart from the ends. `calibration_curve` shows whether
    an estimator needs it.

    Args:
        estimator: to calibrate; None is `ClassifierRatio()`.
        folds: the estimator is fitted once for each fold, and once to all rows.
        random_state: seed of folds and fits.

    Attributes:
        estimator_: fitted to all rows.
        scores_: (k,) scores between which the log ratio is linear.
        log_ratios_: (k,) its values there; finite, also beyond the last row of one sample.
        diagnostics_: a `DirectDiagnostics` of rows that neither fit nor calibration has seen.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 1)), rng.normal(0.5, 1, (2000, 1))
        >>> ratio = secant.IsotonicRatio(secant.SklearnRatio(folds=None), random_state=0)
        >>> found = ratio.fit_samples(x_0, x_1).log_ratio(np.array([[-1.0], [0.0], [1.0]]))
        >>> bool(np.abs(found - [-0.625, -0.125, 0.375]).max() < 0.3)
        True

    References:
        [@zadrozny2002transforming]
    """

    estimator: RatioEstimator | None = None
    _: KW_ONLY
    folds: int = 5
    random_state: int | np.random.RandomState | None = None

    diagnostics_: DirectDiagnostics = field(init=False)

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        part = classifier_unless(self.estimator)
        if not is_count(self.folds, least=2):
            raise ValueError(f"`folds` must be an integer of at least 2; got {self.folds!r}.")
        rng, samples = np.random.default_rng(seed), (sample_0, sample_1)
        folds = [_folds(sample, self.folds, rng) for sample in samples]
        scores = [np.zeros(fold.size) for fold in folds]
        for k in range(-1, self.folds):
            if not any((fold == k).any() for fold in folds):
                continue
            # Rows of fold −1, alone in their group, are needed by every fit.
            kept = [np.flatnonzero((fold != k) | (fold < 0)) for fold in folds]
            zero, one = (s.taken(r) for s, r in zip(samples, kept, strict=True))
            fitted = _fitted(part, zero, one, seed)
            for score, fold, sample in zip(scores, folds, samples, strict=True):
                score[fold == k] = fitted.log_ratio(sample.rows[fold == k])
        weights = [_shares(sample) for sample in samples]
        self.scores_, self.log_ratios_ = _isotonic(scores, weights)
        self.estimator_ = _fitted(part, sample_0, sample_1, seed)
        held_out = _cross_calibrated(scores, weights, folds, self.folds)
        kept_ratios = HeldOutRatios.resampled(held_out, (sample_0.weights, sample_1.weights), rng)
        raw = [np.asarray(sample.rows) for sample in samples]
        self.diagnostics_ = kept_ratios.diagnostics(self._feature_drift(raw[0], raw[1]))
        self.diagnostics_.warn()

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return np.interp(self.estimator_.log_ratio(X), self.scores_, self.log_ratios_)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")


def _fitted(part: RatioEstimator, zero: Sample, one: Sample, seed: int) -> RatioEstimator:
    estimator = clone(part).set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)  # issued for the calibrated ratio
        warnings.simplefilter("ignore", UntrainedWarning)
        return estimator.fit_samples(
            zero.rows, one.rows, weight_0=zero.weights, weight_1=one.weights
        )


def _folds(sample: Sample, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    group = np.zeros(sample.rows.shape[0], dtype=np.int64)
    if sample.weights is not None:
        group += sample.weights > 0.0
    return stratified_folds(group, n_folds, rng)


def _shares(sample: Sample) -> Float[np.ndarray, " n"]:
    n = sample.rows.shape[0]
    return np.full(n, 1.0 / n) if sample.weights is None else sample.weights / sample.weights.sum()


def _isotonic(
    scores: list[Float[np.ndarray, " n"]], shares: list[Float[np.ndarray, " n"]]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Scores and log ratios of the isotonic regression, with equal weight of both samples.

    A first or last block with rows of one sample only gets half a row of the other.
    """
    labels = np.repeat([0.0, 1.0], [score.size for score in scores])
    score, weight = np.concatenate(scores), np.concatenate(shares)
    kept = weight > 0.0
    score, labels, weight = score[kept], labels[kept], weight[kept]
    found = IsotonicRegression().fit(score, labels, sample_weight=weight)
    at, values = found.X_thresholds_, found.y_thresholds_
    values = np.where(values > 1.0 - 1e-12, 1.0, values)  # a weighted mean of ones, rounded
    with np.errstate(divide="ignore"):
        log_ratio = logit(values)
    n_0, n_1 = np.count_nonzero(labels == 0.0), np.count_nonzero(labels == 1.0)
    inner = np.isfinite(log_ratio)
    below = np.count_nonzero(score <= at[values == 0.0].max(initial=-np.inf))
    above = np.count_nonzero(score >= at[values == 1.0].min(initial=np.inf))
    low = min(-math.log((2 * below + 1) * n_1 / n_0), log_ratio[inner].min(initial=np.inf))
    high = max(math.log((2 * above + 1) * n_0 / n_1), log_ratio[inner].max(initial=-np.inf))
    return at, np.clip(log_ratio, low, high)


def _cross_calibrated(
    scores: list[Float[np.ndarray, " n"]],
    shares: list[Float[np.ndarray, " n"]],
    folds: list[np.ndarray],
    n_folds: int,
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]:
    """Scores calibrated by rows of the other folds."""
    found = [np.zeros(score.size) for score in scores]
    for k in range(-1, n_folds):
        others = [(fold != k) | (fold < 0) for fold in folds]
        given = [[v[o] for v, o in zip(each, others, strict=True)] for each in (scores, shares)]
        at, values = _isotonic(*given)
        for score, fold, result in zip(scores, folds, found, strict=True):
            result[fold == k] = np.interp(score[fold == k], at, values)
    return found[0], found[1]
