"""Logistic regressions between two samples, on columns, squares and products, or hinges."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from secant.estimators.pipelines import ScaledColumns

Basis = Literal["linear", "quadratic", "additive"]

_KNOTS = (0.06, 0.2, 0.35, 0.5, 0.65, 0.8, 0.94)  # quantiles at which a hinge starts
_ENDS = (0.01, 0.99)  # quantiles beyond which a hinge stays level


class HingeColumns(TransformerMixin, BaseEstimator):
    """Features of a piecewise linear function of each column: x and max(x − knot, 0).

    Columns within [0, 2), into which tables encode categories, also get the step at 1.
    """

    def fit(self, X: Float[np.ndarray, "n d"], y: object = None) -> Self:
        """Learn knots and ends of every column."""
        del y
        self.ends_ = np.quantile(X, _ENDS, axis=0)
        self.knots_ = np.quantile(X, _KNOTS, axis=0)
        low, high = X.min(axis=0), X.max(axis=0)
        self.is_category_ = (low >= 0.0) & (high >= 1.0) & (high < 2.0)
        return self

    def transform(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """The columns, their hinges, and the steps of categories."""
        level = np.clip(X, *self.ends_)
        hinges = [np.maximum(level - knot, 0.0) for knot in self.knots_]
        steps = (X[:, self.is_category_] >= 1.0).astype(np.float64)
        return np.concatenate([level, *hinges, steps], axis=1)


def basis_size(basis: Basis, n_columns: int) -> int:
    """Number of features of a basis, without the steps of categories."""
    sizes: dict[Basis, int] = {
        "linear": n_columns,
        "quadratic": n_columns * (n_columns + 3) // 2,
        "additive": n_columns * (1 + len(_KNOTS)),
    }
    return sizes[basis]


def logistic_pipeline(basis: Basis, ridge: float) -> Pipeline:
    """Logistic regression on a basis whose features have unit variance.

    Args:
        basis: "linear", "quadratic" (squares and products) or "additive" (`HingeColumns`).
        ridge: penalty ½ ridge ‖coefficients‖² beside the sum of the losses of all rows.
    """
    if basis == "additive":  # hinges first: a step at 1 is one in the columns' own units
        features: list[BaseEstimator] = [HingeColumns()]
    elif basis == "quadratic":
        features = [ScaledColumns(), PolynomialFeatures(2, include_bias=False)]
    else:
        features = [ScaledColumns(), FunctionTransformer()]
    regression = LogisticRegression(C=1.0 / ridge, solver="newton-cholesky")
    return make_pipeline(*features, StandardScaler(), regression)


def design(
    pipeline: Pipeline, x_0: Float[np.ndarray, "n d"], x_1: Float[np.ndarray, "m d"]
) -> Float[np.ndarray, "n_and_m k"]:
    """The inputs of a pipeline's regression, rows of x_0 first."""
    rows, labels = np.concatenate([x_0, x_1]), np.repeat([0, 1], [len(x_0), len(x_1)])
    return np.asarray(pipeline[:-1].fit_transform(rows, labels))
