"""The scaling of the networks' columns as a step of a scikit-learn pipeline."""

from __future__ import annotations

from typing import Self

import numpy as np
from jaxtyping import Float, Int
from sklearn.base import BaseEstimator, TransformerMixin

from secant.scaling import Standardise

__all__ = ["ScaledColumns"]


class ScaledColumns(TransformerMixin, BaseEstimator):
    """`Standardise` between two samples: any unit will do, far values are drawn in."""

    def fit(self, X: Float[np.ndarray, "n d"], y: Int[np.ndarray, " n"]) -> Self:
        """Learn the scaling from rows of x_0 (label 0) and x_1 (label 1)."""
        self.scaling_ = Standardise().fitted(X[y == 0], X[y == 1])
        return self

    def transform(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Scaled rows."""
        return self.scaling_.precise(X)
