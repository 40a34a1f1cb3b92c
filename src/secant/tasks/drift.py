"""Drift: has a table changed since the reference, where, and by which columns?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Self

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from secant.diagnostics import estimated_overlap, feature_drift
from secant.diagnostics.drift import named_columns
from secant.estimators import RatioEstimator
from secant.estimators.checks import checked_rows, column_names
from secant.exceptions import OverlapWarning
from secant.tasks.attribution import feature_contributions
from secant.tasks.cross_fitting import CrossFit, checked_estimator, cross_fit
from secant.tasks.drift_report import DriftReport
from secant.tasks.permutation import checked_permutations, combined_p_value, fold_p_values

__all__ = ["DriftDetector", "agreed_names", "detect_drift", "drift_from"]


def detect_drift(
    reference: ArrayLike,
    current: ArrayLike,
    *,
    estimator: RatioEstimator | None = None,
    n_folds: int = 5,
    n_permutations: int = 999,
    random_state: int | np.random.RandomState | None = None,
    feature_names: Sequence[str] | None = None,
) -> DriftReport:
    """Compare current rows (x_1) with reference rows (x_0).

    A ratio is fitted fold by fold, and every row scored by a fit that never saw it. The p-value is
    of the difference of the mean σ(log r̂), under permutations of the labels within each fold: valid
    for any estimator, if rows are independent of each other. A poor fit costs power only.

    Args:
        reference: (n_0, d) rows as they were; an array or a table.
        current: (n_1, d) rows as they are, of the same columns.
        estimator: cloned for each fold; None is the default of `cross_fit`.
            `SklearnRatio()` is quick.
        n_folds: parts of the rows; each is scored by a fit on the others.
        n_permutations: of the labels in each fold; no p-value is below 1/(1 + this).
        random_state: seed of the folds, the fits and the permutations.
        feature_names: of the columns; None takes those of a table.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> reference, current = rng.normal(size=(400, 3)), rng.normal(size=(300, 3))
        >>> current[:, 1] += 0.5
        >>> ratio = secant.SklearnRatio(folds=None)
        >>> found = secant.detect_drift(reference, current, estimator=ratio, random_state=0)
        >>> found.has_drift(), found.features[0].name
        (True, 'column 1')
    """
    checked_permutations(n_permutations)
    x_0 = checked_rows(reference, "reference")
    x_1 = checked_rows(current, "current", n_features=x_0.shape[1])
    names = agreed_names(reference, current, feature_names)
    rng = check_random_state(random_state)
    with warnings.catch_warnings():
        # Samples apart are an answer here, told by `overlap`, and no weights are made of them.
        warnings.simplefilter("ignore", OverlapWarning)
        fits = cross_fit(estimator, x_0, x_1, n_folds=n_folds, random_state=rng)
    return drift_from(fits, x_0, x_1, names, n_permutations, rng)


def drift_from(
    fits: CrossFit,
    x_0: Float[np.ndarray, "n d"],
    x_1: Float[np.ndarray, "m d"],
    names: Sequence[str] | None,
    n_permutations: int,
    rng: np.random.RandomState,
) -> DriftReport:
    """The report of a cross-fit of reference rows x_0 and current rows x_1."""
    p_values = fold_p_values(fits.by_fold(), n_permutations=n_permutations, rng=rng)
    common = estimated_overlap(fits.log_ratio_0, fits.log_ratio_1)
    margins = feature_drift(x_0, x_1, named_columns(x_0.shape[1], names))
    return DriftReport(
        p_value=combined_p_value(p_values),
        fold_p_values=p_values,
        row_scores=fits.log_ratio_1,
        features=feature_contributions(fits, x_0, x_1, margins, rng),
        overlap=common.share,
        overlap_error=common.standard_error,
        divergence=float(fits.log_ratio_1.mean() - fits.log_ratio_0.mean()),
        fits=fits,
    )


def agreed_names(
    x_0: ArrayLike,
    x_1: ArrayLike,
    given: Sequence[str] | None,
    *,
    arguments: tuple[str, str] = ("reference", "current"),
) -> Sequence[str] | None:
    """The columns' names: those given, or those of the tables, which must agree; None for arrays.

    Args:
        x_0: an array or a table.
        x_1: the other.
        given: by the user, one a column.
        arguments: what the caller calls the two, for errors.
    """
    old, new = column_names(x_0), column_names(x_1)
    _check_names(old, new, arguments)
    n_features = np.shape(x_0)[1] if given is not None else 0
    if given is not None and len(given) != n_features:
        raise ValueError(
            f"`feature_names` must have {n_features} names, one a column; got {len(given)}."
        )
    return given if given is not None else (old or new or None)


def _check_names(
    old: Sequence[str], new: Sequence[str], arguments: tuple[str, str] = ("reference", "current")
) -> None:
    if not old or not new or list(old) == list(new):
        return
    missing, extra = [c for c in old if c not in new], [c for c in new if c not in old]
    told = f"missing {missing[:8]}, new {extra[:8]}" if missing or extra else f"got {new[:8]}"
    raise ValueError(
        f"`{arguments[1]}` must have the columns of `{arguments[0]}` in the same order; "
        f"{told}; expected {list(old[:8])}."
    )


class DriftDetector(BaseEstimator):
    """Remembers a reference table and compares others with it.

    Args:
        estimator: as in `detect_drift`.
        n_folds: parts of the rows.
        n_permutations: of the labels in each fold.
        random_state: random seed.

    Attributes:
        reference_: (n_0, d) the rows remembered.
        names_: of the columns; None for an array.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> detector = secant.DriftDetector(secant.SklearnRatio(folds=None), random_state=0)
        >>> detector = detector.fit(rng.normal(size=(400, 2)))
        >>> detector.detect(rng.normal(size=(300, 2))).has_drift()
        False
        >>> detector.detect(rng.normal(0.0, 1.5, size=(300, 2))).has_drift()
        True
    """

    def __init__(
        self,
        estimator: RatioEstimator | None = None,
        *,
        n_folds: int = 5,
        n_permutations: int = 999,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.n_permutations = n_permutations
        self.random_state = random_state

    def fit(self, reference: ArrayLike, y: None = None) -> Self:
        """Remember the reference rows (n_0, d); y is ignored."""
        del y
        self.reference_ = checked_rows(reference, "reference")
        if self.estimator is not None:
            checked_estimator(self.estimator)  # refuse a bad one now, not at the first detection
        self.n_features_in_ = self.reference_.shape[1]
        names = column_names(reference)
        self.names_ = names or None
        return self

    def detect(self, current: ArrayLike) -> DriftReport:
        """Compare current rows (n_1, d) with the reference."""
        check_is_fitted(self)
        _check_names(self.names_ or (), column_names(current))
        return detect_drift(
            self.reference_,
            current,
            estimator=self.estimator,
            n_folds=self.n_folds,
            n_permutations=self.n_permutations,
            random_state=self.random_state,
            feature_names=self.names_,
        )
