"""StagedRatio: a ratio learned in stages, each correcting the previous ones."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp
from sklearn.base import clone

from secant.estimators._base import RatioEstimator
from secant.estimators.checks import is_count
from secant.estimators.classifier import ClassifierRatio
from secant.estimators.direct import DirectDiagnostics, HeldOutRatios
from secant.exceptions import OverlapWarning
from secant.samples import Sample

_HELD_OUT_SHARE = 0.1


@dataclass(eq=False, repr=False)
class StagedRatio(RatioEstimator):
    """log r = Σ_k log r_k, where r_k compares x_1 with x_0 weighted by the stages before (R3).

    Where one classifier saturates, the next one compares samples that are closer. Stages are added
    as long as they lower the logistic loss on held-out rows.

    Args:
        estimator: of a stage; None is `ClassifierRatio()`. It must take weights.
        n_stages: maximum number of stages.
        random_state: seed of all stages.

    Attributes:
        stages_: the fitted estimators, in turn.
        offset_: sum of the log normalisers between the stages, in nats.
        diagnostics_: a `DirectDiagnostics` of a tenth of the rows, left out of every stage.

    References:
        [@xiao2022adaptive]
    """

    diagnostics_: DirectDiagnostics = field(init=False)

    estimator: RatioEstimator | None = None
    _: KW_ONLY
    n_stages: int = 3
    random_state: int | np.random.RandomState | None = None

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        part = ClassifierRatio() if self.estimator is None else self.estimator
        if not isinstance(part, RatioEstimator):
            raise TypeError(f"`estimator` must be a RatioEstimator or None; got {part!r}.")
        if not is_count(self.n_stages, least=1):
            raise ValueError(f"`n_stages` must be an integer of at least 1; got {self.n_stages!r}.")
        rng = np.random.default_rng(seed)
        (train_0, held_0), (train_1, held_1) = (_split(s, rng) for s in (sample_0, sample_1))
        stages: tuple[RatioEstimator, ...] = ()
        offset, best = 0.0, np.inf
        on_train = np.zeros(train_0.rows.shape[0])
        on_held = tuple(np.zeros(s.rows.shape[0]) for s in (held_0, held_1))
        while len(stages) < self.n_stages:
            weights = _weighted(train_0, on_train)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OverlapWarning)  # issued for the whole fit, below
                stage = clone(part).set_params(random_state=seed + len(stages))
                stage.fit_samples(
                    train_0.rows, train_1.rows, weight_0=weights, weight_1=train_1.weights
                )
            constant = _log_mean(on_train, train_0.weights)
            found = tuple(
                g + stage.log_ratio(s.rows) - constant
                for g, s in zip(on_held, (held_0, held_1), strict=True)
            )
            kept = HeldOutRatios.resampled(found, (held_0.weights, held_1.weights), rng)
            if stages and kept.loss()[0] >= best:
                break
            stages, best, held_out = (*stages, stage), kept.loss()[0], kept
            offset -= constant
            on_train, on_held = on_train + stage.log_ratio(train_0.rows) - constant, found
        self.stages_, self.offset_ = stages, float(offset)
        self.diagnostics_ = held_out.diagnostics(self._feature_drift(held_0.rows, held_1.rows))
        self.diagnostics_.warn()

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return np.sum([stage.log_ratio(X) for stage in self.stages_], axis=0) + self.offset_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")


def _split(sample: Sample, rng: np.random.Generator) -> tuple[Sample, Sample]:
    """Training rows, and a tenth of the rows held out."""
    n = sample.rows.shape[0]
    order = rng.permutation(n)
    n_held = max(1, round(_HELD_OUT_SHARE * n))
    return sample.taken(np.sort(order[n_held:])), sample.taken(np.sort(order[:n_held]))


def _weighted(sample: Sample, log_ratio: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"] | None:
    """The sample's weights times the ratio, scaled to mean 1, so that penalties stay the same."""
    if not log_ratio.any():
        return sample.weights
    weights = np.exp(log_ratio - log_ratio.max())
    if sample.weights is not None:
        weights *= sample.weights
    return weights / weights.mean()


def _log_mean(values: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"] | None) -> float:
    """log E[e^value] over weighted rows."""
    share = np.ones(values.size) if weights is None else weights
    return float(logsumexp(values, b=share / share.sum()))
