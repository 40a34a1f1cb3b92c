"""Sample weights for any estimator that takes them, at the end of a pipeline too."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

__all__ = ["WeightedPipeline", "check_takes_weights", "taking_weights", "unweighted_step"]


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
