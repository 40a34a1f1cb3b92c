"""DriftDetector: comparisons of many tables with one reference."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from secant.estimators import RatioEstimator
from secant.estimators.checks import check_names, checked_rows, frame_columns
from secant.tasks.comparison import compare
from secant.tasks.comparison_result import Comparison
from secant.tasks.cross_fitting import checked_estimator


@dataclass(eq=False, repr=False)
class DriftDetector(BaseEstimator):
    """Stores a reference table and compares other tables with it.

    Args:
        estimator: as in `compare`.
        n_folds: number of folds, as in `compare`.
        n_permutations: permutations for the p-value.
        random_state: random seed.

    Attributes:
        reference_: (n_0, d) rows of the reference.
        names_: column names; None for an array.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> detector = secant.DriftDetector(random_state=0).fit(rng.normal(size=(400, 2)))
        >>> detector.detect(rng.normal(size=(300, 2))).has_drift()
        False
        >>> detector.detect(rng.normal(0.0, 1.5, size=(300, 2))).has_drift()
        True
    """

    estimator: RatioEstimator | None = None
    _: KW_ONLY
    n_folds: int | None = None
    n_permutations: int = 999
    random_state: int | np.random.RandomState | None = None

    def fit(self, reference: ArrayLike, y: None = None) -> Self:
        """Store the reference rows (n_0, d); y is ignored."""
        del y
        self.reference_ = checked_rows(reference, "reference")
        if self.estimator is not None:
            checked_estimator(self.estimator)  # now rather than at the first detection
        self.n_features_in_ = self.reference_.shape[1]
        self.names_ = frame_columns(reference) or None
        return self

    def detect(self, current: ArrayLike) -> Comparison:
        """Compare current rows (n_1, d) with the reference."""
        check_is_fitted(self)
        check_names(self.names_ or (), frame_columns(current), ("reference", "current"))
        rows = checked_rows(current, "current", n_features=self.n_features_in_)
        return compare(
            self.reference_,
            rows,
            sample_names=("reference", "current"),
            estimator=self.estimator,
            n_folds=self.n_folds,
            n_permutations=self.n_permutations,
            random_state=self.random_state,
            feature_names=self.names_ or frame_columns(current) or None,
        )


def detect_drift(reference: ArrayLike, current: ArrayLike, **settings: Any) -> Comparison:  # noqa: ANN401
    """Deprecated: `compare(reference, current)` gives the same result, with its arguments."""
    warnings.warn(
        "detect_drift is deprecated: use secant.compare(reference, current), whose result has "
        "has_drift(), top_rows() and row_scores.",
        FutureWarning,
        stacklevel=2,
    )
    return compare(reference, current, sample_names=("reference", "current"), **settings)
