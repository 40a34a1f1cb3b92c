"""Importance weights: source rows weighted to represent a target."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike, DTypeLike

from secant._host.notebook import Summarised
from secant.diagnostics import effective_sample_size
from secant.estimators import RatioEstimator
from secant.exceptions import OverlapWarning
from secant.tasks.cross_fitting import CrossFit, cross_fit
from secant.tasks.inference import checked_confidence, normal_interval
from secant.tasks.weight_support import WeightSupport, fold_normalised


@dataclass(frozen=True)
class WeightedMean(Summarised):
    """A mean over the target, from weighted source rows.

    Attributes:
        estimate: the self-normalised weighted mean (J6).
        standard_error: by the delta method, for fixed weights.
        interval: normal interval at `confidence`.
        confidence: its level.
    """

    estimate: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.estimate:.4g} ± {self.standard_error:.4g}, {self.confidence:.0%} interval "
            f"[{low:.4g}, {high:.4g}]"
        )


@dataclass(frozen=True, eq=False)
class ImportanceWeights(Summarised):
    """Weights of the source's rows; `np.asarray` of it, and its length, are those of the weights.

    Attributes:
        weights: (n,) in the order of the rows, of mean 1.
        support: effective sample size and Pareto shape of the weights before clipping.
        effective_sample_size: of the weights after clipping.
        n_clipped: number of clipped weights.
        cross_fit: the out-of-fold log ratios and the fits behind them.
    """

    weights: Float[np.ndarray, " n"] = field(repr=False)
    support: WeightSupport
    effective_sample_size: float
    n_clipped: int
    cross_fit: CrossFit = field(repr=False)

    @classmethod
    def of(cls, scores: CrossFit, *, clip: float | None = None) -> ImportanceWeights:
        """Weights of x_0's rows that represent x_1; warns if they are unreliable."""
        log_weights, log_weights_on_top = fold_normalised(scores)
        capped = log_weights if clip is None else np.minimum(log_weights, np.log(clip))
        found = cls(
            np.exp(capped) / np.exp(capped).mean(),
            WeightSupport.of(log_weights, log_weights_on_top),
            effective_sample_size(capped),
            int(np.count_nonzero(capped < log_weights)),
            scores,
        )
        _warn(found, clipped=clip is not None)
        return found

    @property
    def pareto_shape(self) -> float:
        """Shape of the largest weights before clipping; from 0.7 on, means are unreliable."""
        return self.support.pareto_shape

    def mean(self, values: ArrayLike, *, confidence: float = 0.95) -> WeightedMean:
        """The mean over the target of values observed at the source rows (J6).

        `μ̂ = Σ w y / Σ w`, with `standard error = √(Σ w² (y − μ̂)²) / Σ w`.

        Args:
            values: (n,) one per source row.
            confidence: level of the interval.
        """
        checked_confidence(confidence)
        y = np.asarray(values, dtype=np.float64)
        if y.shape != self.weights.shape:
            raise ValueError(
                f"`values` must have shape {self.weights.shape}, one per source row; got {y.shape}."
            )
        estimate = float(np.average(y, weights=self.weights))
        spread = self.weights * (y - estimate)
        error = float(np.sqrt(np.sum(spread**2)) / self.weights.sum())
        return WeightedMean(
            estimate, error, normal_interval(estimate, error, confidence), confidence
        )

    def __array__(
        self,
        dtype: DTypeLike | None = None,
        copy: bool | None = None,  # noqa: FBT001, NumPy's protocol
    ) -> Float[np.ndarray, " n"]:
        return np.array(self.weights, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return self.weights.size

    def __str__(self) -> str:
        capped = f", {self.n_clipped} capped" if self.n_clipped else ""
        return (
            f"{len(self)} importance weights, worth {self.effective_sample_size:.1f} rows of the "
            f"target; largest {self.weights.max():.3g} times the mean, Pareto shape "
            f"{self.pareto_shape:.2f}{capped}"
        )


def importance_weights(
    source: ArrayLike,
    target: ArrayLike,
    *,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_ensemble: int = 1,
    clip: float | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ImportanceWeights:
    """Weights p_target/p_source of the source's rows, of mean 1: the target is the numerator.

    Weights are out of fold, with mean 1 in every fold. An `OverlapWarning` is issued if weighted
    means are unreliable.

    Args:
        source: (n, d) rows to be weighted.
        target: (m, d) rows to represent, with the same columns.
        estimator: cloned for each fold; None is the default of `cross_fit`.
        n_folds: number of folds.
        n_ensemble: fits per fold, whose log ratios are averaged.
        clip: maximum weight in units of the mean; after clipping, the weights are rescaled to
            mean 1. Trades variance for bias towards the unweighted mean; 10 or 20 are common. None
            does not clip.
        random_state: random seed.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> source, target = rng.normal(0, 1, (2000, 1)), rng.normal(0.5, 1, (2000, 1))
        >>> weights = secant.importance_weights(source, target, random_state=0)
        >>> low, high = weights.mean(source[:, 0] ** 2).interval
        >>> bool(low < 1.25 < high)  # E[x²] over the target
        True
    """
    check_clip(clip)
    scores = cross_fit(
        estimator,
        source,
        target,
        n_folds=n_folds,
        n_ensemble=n_ensemble,
        names=("source", "target"),
        random_state=random_state,
    )
    return ImportanceWeights.of(scores, clip=clip)


def _warn(found: ImportanceWeights, *, clipped: bool) -> None:
    """Warn about clipped weights by their effective sample size, as they have no tail."""
    left = replace(found.support, effective_sample_size=found.effective_sample_size)
    if left.has_rows if clipped else left.is_enough:
        return
    remedy = f"{found.n_clipped} are capped already" if clipped else "or cap them, as by clip=20"
    warnings.warn(
        f"importance weights rest on too few rows of the source: {left}. Means over them and "
        "their standard errors are unreliable. Collect source rows closer to the target, or "
        f"weight by fewer columns; {remedy}.",
        OverlapWarning,
        stacklevel=4,
    )


def check_clip(clip: float | None) -> None:
    """Check the argument `clip`."""
    if clip is not None and not clip > 1.0:
        raise ValueError(
            "`clip` must be None or a number beyond 1, the largest weight allowed in units of the "
            f"mean weight, such as 20; got {clip!r}. It is no quantile."
        )
