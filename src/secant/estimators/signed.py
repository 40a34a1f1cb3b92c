"""SignedRatio: a ratio of samples whose weights may be negative."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY, dataclass

import numpy as np
from jaxtyping import Float
from sklearn.base import clone

from secant.estimators._base import RatioEstimator
from secant.estimators.classifier import classifier_unless
from secant.exceptions import OverlapWarning, UntrainedWarning
from secant.samples import Sample


@dataclass(eq=False, repr=False)
class SignedRatio(RatioEstimator):
    """log r from signed weights: the ratio for |w| times the mean sign of each sample (W2).

    A loss with negative weights has no minimum for a flexible model. Here every fit has positive
    weights: one of |w| between the samples, and one between rows of positive and of negative weight
    in each sample with negative ones.

    Args:
        estimator: cloned for each of these fits; None is `ClassifierRatio()`. It must take weights.
        least_share: minimum mean sign of the weights at a point, above 0. Where a fit finds less,
            positive and negative weights cancel, and the density is taken to be this share of the
            absolute weights.
        random_state: seed of all fits.

    Attributes:
        estimator_: the ratio of absolute weights.
        signs_: for each sample, the ratio of its positive rows to its negative ones; None without
            negative weights.
        log_odds_: for each sample, log of the total positive over the total negative weight.
        diagnostics_: those of `estimator_`.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (2000, 1)), rng.normal(0.5, 1, (2000, 1))
        >>> weights = np.where(rng.uniform(size=2000) < 0.2, -1.0, 1.0)
        >>> ratio = secant.SignedRatio(secant.SklearnRatio(folds=None), random_state=0)
        >>> at = np.array([[-1.0], [0.0], [1.0]])
        >>> found = ratio.fit_samples(x_0, x_1, weight_1=weights).log_ratio(at)
        >>> bool(np.abs(found - (0.5 * at[:, 0] - 0.125)).max() < 0.2)
        True

    References:
        [@nachman2020neural]
    """

    estimator: RatioEstimator | None = None
    _: KW_ONLY
    least_share: float = 0.01
    random_state: int | np.random.RandomState | None = None

    @property
    def _takes_signed(self) -> bool:
        return True

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        part = classifier_unless(self.estimator)
        if not 0.0 < self.least_share < 1.0:
            raise ValueError(
                f"`least_share` must lie between 0 and 1, such as 0.01; got {self.least_share!r}."
            )
        samples = (sample_0, sample_1)
        parts = [_by_sign(sample) for sample in samples]
        self.signs_ = tuple(
            None
            if pair is None
            else _fitted(part, pair[0], pair[1], seed + 1 + i, is_of_signs=True)
            for i, pair in enumerate(parts)
        )
        self.log_odds_ = tuple(
            math.inf if pair is None else math.log(pair[1].mass / pair[0].mass) for pair in parts
        )
        self.estimator_ = _fitted(part, _absolute(sample_0), _absolute(sample_1), seed)
        self.diagnostics_ = self.estimator_.diagnostics_

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        below, above = (self._log_mean_sign(X, i) for i in (0, 1))
        return np.asarray(self.estimator_.log_ratio(X) + above - below, dtype=np.float64)

    def _log_mean_sign(
        self, X: Float[np.ndarray, "n d"], i: int
    ) -> Float[np.ndarray, " n"] | float:
        """log of the mean sign at each row of X relative to the whole sample."""
        sign = self.signs_[i]
        if sign is None:
            return 0.0
        # P(+) − P(−) = tanh(½ log odds).
        share = np.tanh(0.5 * (sign.log_ratio(X) + self.log_odds_[i]))
        whole = math.tanh(0.5 * self.log_odds_[i])
        return np.asarray(np.log(np.maximum(share, self.least_share)) - math.log(whole))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")


def _absolute(sample: Sample) -> Sample:
    """The sample with absolute weights."""
    return Sample(sample.rows, None if sample.weights is None else np.abs(sample.weights))


def _by_sign(sample: Sample) -> tuple[Sample, Sample] | None:
    """Rows of negative and of positive weight, by absolute weight; None without negative ones."""
    if sample.weights is None or not (sample.weights < 0.0).any():
        return None
    negative, positive = (sample.taken(np.flatnonzero(s * sample.weights > 0.0)) for s in (-1, 1))
    return _absolute(negative), positive


def _fitted(
    part: RatioEstimator, below: Sample, above: Sample, seed: int, *, is_of_signs: bool = False
) -> RatioEstimator:
    estimator = clone(part).set_params(random_state=seed)
    with warnings.catch_warnings():
        if is_of_signs:  # few negative rows, or signs at random, are no fault of the data
            warnings.simplefilter("ignore", OverlapWarning)
            warnings.simplefilter("ignore", UntrainedWarning)
        return estimator.fit_samples(
            below.rows, above.rows, weight_0=below.weights, weight_1=above.weights
        )
