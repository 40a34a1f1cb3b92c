"""ChasmSwitch: a classifier where the samples overlap, a path where they do not."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass

import numpy as np
from jaxtyping import Float
from sklearn.base import clone

from secant.anchoring import GaussianMoments
from secant.estimators._base import RatioEstimator
from secant.estimators.classifier import ClassifierRatio
from secant.estimators.secant_ratio import SecantRatio
from secant.exceptions import OverlapWarning
from secant.samples import Sample


@dataclass(eq=False, repr=False)
class ChasmSwitch(RatioEstimator):
    """Fits `near`; if it finds the samples too far apart for it, fits `far` instead.

    Where the samples overlap, a classifier is the most efficient method. Beyond a few nats it
    separates the samples without error and learns no more; methods along a path are better there.
    The switch uses the mean log ratio of `near` over held-out rows of x_1, an estimate of
    KL(p_1‖p_0) that saturates but does not overshoot.

    Args:
        near: for samples that overlap; None is a `ClassifierRatio` on a Gaussian anchor.
        far: for samples that do not; None is `SecantRatio()`.
        threshold: nats between the samples from which on `far` is used.
        rows_to_look: maximum rows of each sample for the first fit of `near`; None for all. If the
            samples have more rows and `near` is kept, it is fitted again to all of them.
        random_state: random seed.

    Attributes:
        estimator_: the estimator in use.
        is_far_: whether that is `far`.
        diagnostics_: its diagnostics.
    """

    _pools_rows = True  # if its parts do

    near: RatioEstimator | None = None
    far: RatioEstimator | None = None
    _: KW_ONLY
    threshold: float = 3.0
    rows_to_look: int | None = 1_000_000
    random_state: int | np.random.RandomState | None = None

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        near = ClassifierRatio(anchor=GaussianMoments()) if self.near is None else self.near
        rng = np.random.default_rng(seed)
        most = self.rows_to_look
        some_0, some_1 = (_thinned(sample, most, rng) for sample in (sample_0, sample_1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # checked below
            found = _fitted(near, some_0, some_1, seed)
        self.is_far_ = bool(found.diagnostics_.mean_log_ratio_1 > self.threshold)
        if self.is_far_:
            found = _fitted(
                SecantRatio() if self.far is None else self.far, sample_0, sample_1, seed
            )
        elif some_0 is not sample_0 or some_1 is not sample_1:
            found = _fitted(near, sample_0, sample_1, seed)
        self.estimator_, self.diagnostics_ = found, found.diagnostics_

    @property
    def in_use(self) -> RatioEstimator:
        """The estimator that was chosen."""
        return self.estimator_.in_use

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return self.estimator_.log_ratio(X)


def _thinned(sample: Sample, most: int | None, rng: np.random.Generator) -> Sample:
    """At most this many rows of a sample."""
    n = sample.rows.shape[0]
    if most is None or n <= most:
        return sample
    return sample.taken(np.sort(rng.choice(n, most, replace=False)))


def _fitted(part: RatioEstimator, sample_0: Sample, sample_1: Sample, seed: int) -> RatioEstimator:
    estimator = clone(part).set_params(random_state=seed)
    return estimator.fit_samples(
        sample_0.rows, sample_1.rows, weight_0=sample_0.weights, weight_1=sample_1.weights
    )
