"""The scikit-learn interface of all estimators, and the conversion from NumPy to JAX."""

from __future__ import annotations

import abc
from typing import ClassVar, Self

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, Tags, check_random_state, estimator_html_repr
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from secant._host.notebook import fragment
from secant.diagnostics import FeatureDrift, feature_drift
from secant.estimators.checks import (
    check_names,
    check_unmasked,
    checked_labels,
    checked_rows,
    checked_weights,
    doubles,
    frame_columns,
    naming,
    validated,
)
from secant.estimators.nested_parameters import NestedParameters
from secant.model_files import Savable
from secant.samples import Sample
from secant.training.checkpoints import Folder, resuming
from secant.training.devices import refuse_own_rows

_ROWS = "a numeric array of shape (n, d) without NaN or infinity"


class RatioEstimator(Savable, NestedParameters, BaseEstimator, abc.ABC):
    """An estimator of log r(x) = log p_1(x) − log p_0(x) from samples of both.

    `x_1` is the numerator: a positive log ratio means that a row is more likely under p_1.

    For scikit-learn it is a classifier of the labels 0 and 1, so that cross-validation stratifies
    its folds and calibration tools accept it. The prior of that classifier is the share of rows, or
    of their weight, in the fit; `log_ratio` does not depend on it.

    Attributes:
        class_prior_: the share of x_1 in the fit, the prior probability of label 1.
    """

    class_prior_: float = 0.5  # of models saved without it

    # A folder holds one fit, so scikit-learn must not route it to the many fits of a search.
    __metadata_request__fit = {"resume": UNUSED}  # noqa: RUF012, as scikit-learn has it

    # Whether a fit pools the rows of several processes, see `data_parallel`.
    _pools_rows: ClassVar[bool] = False

    @property
    def _takes_signed(self) -> bool:
        """Whether weights may be negative."""
        return False

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        resume: Folder | None = None,
    ) -> Self:
        """Fit on one array of rows with labels: 0 for rows of p_0, 1 for rows of p_1.

        Args:
            X: rows (n, d).
            y: labels (n,), 0 or 1.
            sample_weight: non-negative weights (n,), normalised within each sample.
            resume: a folder for checkpoints, as for `fit_samples`.
        """
        with naming("X", _ROWS):
            check_unmasked(X)
            rows = validated(self, X, least=2)
        rows = doubles(rows, "X")
        labels = checked_labels(y, rows.shape[0])
        signed = self._takes_signed
        weights = checked_weights(sample_weight, rows.shape[0], "sample_weight", signed=signed)
        parts = [None, None] if weights is None else [weights[labels == k] for k in (0, 1)]
        for label, part in enumerate(parts):
            if part is not None and part.sum() <= 0.0:
                total = "all rows" if not part.any() else "the rows"
                raise ValueError(
                    f"`sample_weight` must be positive somewhere in both classes; {total} of "
                    f"class {label} have weight {part.sum():.3g}."
                )
        self._fit_checked(rows[labels == 0], rows[labels == 1], *parts, resume=resume)
        self.class_prior_ = float(np.average(labels, weights=weights))
        return self

    def fit_samples(
        self,
        x_0: ArrayLike,
        x_1: ArrayLike,
        *,
        weight_0: ArrayLike | None = None,
        weight_1: ArrayLike | None = None,
        resume: Folder | None = None,
    ) -> Self:
        """Fit on two arrays, (n_0, d) and (n_1, d); they need not have equally many rows.

        A `numpy.memmap` is read a few batches at a time and stays on disk.

        Args:
            x_0: rows of p_0, the denominator.
            x_1: rows of p_1, the numerator.
            weight_0: non-negative weights of x_0's rows.
            weight_1: non-negative weights of x_1's rows.
            resume: a folder for checkpoints: the same call with the same folder resumes a stopped
                fit, with a bit-identical result on the same machine and versions. Ctrl-C and
                SIGTERM then take effect after a checkpoint is written. Needs a `random_state`.
                Estimators that train no network write nothing.
        """
        check_names(frame_columns(x_0), frame_columns(x_1), ("x_0", "x_1"))
        # Record names and width as scikit-learn does; the rows are checked below.
        with naming("x_0", _ROWS):
            validate_data(self, x_0, skip_check_array=True)
        return self._fit_checked(x_0, x_1, weight_0, weight_1, resume=resume)

    def _fit_checked(
        self,
        x_0: ArrayLike,
        x_1: ArrayLike,
        weight_0: ArrayLike | None,
        weight_1: ArrayLike | None,
        *,
        resume: Folder | None,
    ) -> Self:
        if not self._pools_rows:
            refuse_own_rows(self)
        rows_0 = checked_rows(x_0, "x_0")
        rows_1 = checked_rows(x_1, "x_1", n_features=rows_0.shape[1])
        self.n_features_in_ = rows_0.shape[1]
        signed = self._takes_signed
        weights_0 = checked_weights(weight_0, rows_0.shape[0], "weight_0", signed=signed)
        weights_1 = checked_weights(weight_1, rows_1.shape[0], "weight_1", signed=signed)
        sample_0, sample_1 = Sample(rows_0, weights_0), Sample(rows_1, weights_1)
        with resuming(resume, self.random_state):
            self._fit(sample_0, sample_1, self._drawn_seed())
        self.class_prior_ = sample_1.mass / (sample_0.mass + sample_1.mass)
        return self

    def _drawn_seed(self) -> int:
        """One integer from `random_state`, the seed of all random numbers in a fit."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    @abc.abstractmethod
    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        """Learn from checked samples."""

    @abc.abstractmethod
    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """The log ratio of checked rows."""

    def log_ratio(self, X: ArrayLike) -> Float[np.ndarray, " n"]:
        """log p_1(x) − log p_0(x) for each row of X, shape (n,), in nats."""
        return self._log_ratio(self._checked_input(X))

    @property
    def in_use(self) -> RatioEstimator:
        """The fitted estimator in use: itself, unless it selects among others."""
        return self

    def score_samples(self, X: ArrayLike) -> Float[np.ndarray, " n"]:
        """The same as `log_ratio`, under scikit-learn's name."""
        return self.log_ratio(X)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Minus the logistic loss on the given rows, with equal weight of both samples.

        −E_0[softplus(log r)] − E_1[softplus(−log r)], (D0): higher is better, −2 log 2 for r = 1.
        """
        log_ratio = self.log_ratio(X)
        labels = checked_labels(y, log_ratio.size)
        loss_0 = np.logaddexp(0.0, log_ratio[labels == 0])
        loss_1 = np.logaddexp(0.0, -log_ratio[labels == 1])
        return -float(loss_0.mean()) - float(loss_1.mean())

    @property
    def classes_(self) -> Int[np.ndarray, " 2"]:
        """The labels: 0 for p_0 and 1 for p_1."""
        check_is_fitted(self)
        return np.array([0, 1])

    def decision_function(self, X: ArrayLike) -> Float[np.ndarray, " n"]:
        """Log odds of label 1: `log_ratio(X)` + log(π / (1 − π)) with the prior π."""
        return self.log_ratio(X).astype(np.float64) + logit(self.class_prior_)

    def predict_proba(self, X: ArrayLike) -> Float[np.ndarray, "n 2"]:
        """Probabilities of the labels 0 and 1, under the class shares of the fit (`class_prior_`).

        P(1 | x) = π r(x) / (1 − π + π r(x)).
        """
        odds = self.decision_function(X)
        return np.column_stack([expit(-odds), expit(odds)])

    def predict(self, X: ArrayLike) -> Int[np.ndarray, " n"]:
        """The more probable label of each row."""
        return (self.decision_function(X) > 0.0).astype(np.int64)

    def report(self) -> None:
        """Print the diagnostics of the fit: a verdict, then numbers in groups."""
        check_is_fitted(self)
        none = "no diagnostics: no rows were left out of the fit (folds=None)."
        print(none if self.diagnostics_ is None else self.diagnostics_)

    def _html_repr(self) -> str:
        """For notebooks: scikit-learn's diagram before the fit, diagnostics after it."""
        found = getattr(self, "diagnostics_", None)
        if found is None:
            diagram: str = estimator_html_repr(self)
            return diagram
        pairs = [
            ("", str(found.verdict)),
            *found.fit_lines,
            ("share in common", f"{found.overlap:.3f} ± {found.overlap_error:.3f}"),
        ]
        return fragment(" ".join(repr(self).split()), pairs)

    def _feature_drift(
        self, raw_0: Float[np.ndarray, "n d"], raw_1: Float[np.ndarray, "m d"]
    ) -> tuple[FeatureDrift, ...]:
        """Differences between raw rows column by column, with the column names seen in fit."""
        return feature_drift(raw_0, raw_1, getattr(self, "feature_names_in_", None))

    def _checked_input(self, X: ArrayLike) -> Float[np.ndarray, "n d"]:
        check_is_fitted(self)
        with naming("X", _ROWS):
            check_unmasked(X)
            rows = validated(self, X, reset=False)
        return doubles(rows, "X")

    def __sklearn_tags__(self) -> Tags:
        """scikit-learn's capability tags: a classifier of two labels, which fit needs."""
        tags: Tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
