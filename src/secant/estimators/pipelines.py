"""Steps of scikit-learn pipelines: scaled columns, and weights for the last step."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from secant.scaling import Standardise


class ScaledColumns(TransformerMixin, BaseEstimator):
    """`Standardise` as a step of a pipeline: any units, outliers compressed."""

    def fit(self, X: Float[np.ndarray, "n d"], y: Int[np.ndarray, " n"]) -> Self:
        """Learn the scaling from rows of x_0 (label 0) and x_1 (label 1)."""
        self.scaling_ = Standardise().fitted(X[y == 0], X[y == 1])
        return self

    def transform(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Scaled rows."""
        return self.scaling_.precise(X)


class WeightedPipeline(Pipeline):
    """A pipeline whose `fit` passes `sample_weight` to its last step.

    Earlier steps, such as scalers, get the rows without weights.
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: Float[np.ndarray, " n"] | None = None,
        **params: Any,  # noqa: ANN401, as in the class it extends
    ) -> Self:
        """Fit all steps, the last one with weights."""
        if sample_weight is not None:
            params[f"{self.steps[-1][0]}__sample_weight"] = sample_weight
        super().fit(X, y, **params)
        return self


def taking_weights(estimator: BaseEstimator) -> BaseEstimator:
    """The estimator; a plain pipeline, and one at its end, in the form that passes weights on."""
    if type(estimator) is not Pipeline:
        return estimator
    name, last = estimator.steps[-1]
    steps = [*estimator.steps[:-1], (name, taking_weights(last))]
    return WeightedPipeline(steps, memory=estimator.memory, verbose=estimator.verbose)


def unweighted_step(estimator: BaseEstimator) -> BaseEstimator | None:
    """The estimator, or a pipeline's last step, if its fit takes no weights; None if it does."""
    if isinstance(estimator, WeightedPipeline):
        return unweighted_step(estimator.steps[-1][1])
    return None if has_fit_parameter(estimator, "sample_weight") else estimator


def check_takes_weights(classifier: BaseEstimator) -> None:
    """Raise an error for weights that the classifier would ignore."""
    step = unweighted_step(classifier)
    if step is not None:
        raise ValueError(
            f"Weights must reach the classifier, but {type(step).__name__}.fit takes no "
            "`sample_weight`; use a classifier that does, or resample the rows."
        )
