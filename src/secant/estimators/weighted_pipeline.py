"""Sample weights for any classifier that takes them, at the end of a pipeline too."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

__all__ = ["WeightedPipeline", "check_takes_weights", "taking_weights"]


class WeightedPipeline(Pipeline):
    """A pipeline whose `fit` hands `sample_weight` to its last step.

    The steps before, scalers and the like, see the rows without weights.
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


def taking_weights(classifier: BaseEstimator) -> BaseEstimator:
    """The classifier; a plain pipeline in the form that passes weights on."""
    if type(classifier) is not Pipeline:
        return classifier
    return WeightedPipeline(classifier.steps, memory=classifier.memory, verbose=classifier.verbose)


def check_takes_weights(classifier: BaseEstimator) -> None:
    """Refuse weights that the classifier would have to ignore."""
    last = classifier.steps[-1][1] if isinstance(classifier, WeightedPipeline) else classifier
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(
            f"Weights must reach the classifier, but {type(last).__name__}.fit takes no "
            "`sample_weight`; use a classifier that does, or resample the rows."
        )
