"""CovariateShift: any scikit-learn estimator, fitted to a source weighted to match a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from secant.estimators import RatioEstimator
from secant.estimators.pipelines import taking_weights, unweighted_step
from secant.tasks.cross_fitting import cross_fit
from secant.tasks.importance import ImportanceWeights, check_clip


def _inner_has(name: str) -> Callable[[CovariateShift], bool]:
    """Whether the inner estimator, fitted if it is, has this method."""

    def check(self: CovariateShift) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


@dataclass(eq=False, repr=False)
class CovariateShift(MetaEstimatorMixin, BaseEstimator):
    """An estimator fitted to source rows that are weighted to represent a target.

    Under covariate shift p(x) changes and p(y | x) does not: the loss over the target is the loss
    over the source with weights p_target(x)/p_source(x). Weights help a misspecified model and
    cost variance in a well-specified one. See `importance_weights`.

    `GridSearchCV(CovariateShift(…), grid).fit(X, y, X_target=X_target)` searches the parameters of
    the inner estimator, `estimator__…`; its scores are over unweighted source rows. A target with
    as many rows as X is split with the folds, as scikit-learn does with all such arguments.

    Args:
        estimator: a classifier or regressor whose `fit` takes `sample_weight`, or a pipeline that
            ends in one; left as it is, fit works on a clone.
        ratio: estimator of the log ratio; None is the default of `cross_fit`.
        n_folds: number of folds; weights are out of fold.
        clip: maximum weight in units of the mean; None for no maximum.
        random_state: random seed.

    Attributes:
        estimator_: the fitted inner estimator.
        weights_: the `ImportanceWeights` of X's rows.
        n_features_in_: columns of X; feature_names_in_ their names, if X had any.
        classes_: of a classifier.

    Examples:
        >>> import numpy as np, secant
        >>> from sklearn.linear_model import LinearRegression
        >>> rng = np.random.default_rng(0)
        >>> X, X_target = rng.normal(0, 1, (500, 1)), rng.normal(1, 0.5, (500, 1))
        >>> y = X[:, 0] ** 2
        >>> model = secant.CovariateShift(LinearRegression(), random_state=0)
        >>> weighted = model.fit(X, y, X_target)
        >>> plain = LinearRegression().fit(X, y)
        >>> truth = X_target[:, 0] ** 2
        >>> bool(weighted.score(X_target, truth) > plain.score(X_target, truth))
        True
    """

    estimator: BaseEstimator
    ratio: RatioEstimator | None = None
    _: KW_ONLY
    n_folds: int = 5
    clip: float | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, X_target: ArrayLike) -> Self:
        """Weight the rows of X against X_target and fit the estimator to them.

        Args:
            X: (n, d) rows of the source.
            y: (n,) the outcome.
            X_target: (m, d) rows of the target, which need no y.
        """
        unfitted = taking_weights(clone(self.estimator))
        _check_takes_weights(unfitted)
        validate_data(self, X, skip_check_array=True)
        check_clip(self.clip)
        scores = cross_fit(
            self.ratio,
            X,
            X_target,
            n_folds=self.n_folds,
            names=("X", "X_target"),
            random_state=self.random_state,
        )
        self.weights_ = ImportanceWeights.of(scores, clip=self.clip)
        self.estimator_ = unfitted.fit(X, y, sample_weight=self.weights_.weights)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The labels of a fitted classifier."""
        return np.asarray(self.estimator_.classes_)

    @available_if(_inner_has("predict"))
    def predict(self, X: ArrayLike) -> np.ndarray:
        """What the fitted inner estimator predicts."""
        return self._fitted().predict(X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the fitted inner classifier."""
        return self._fitted().predict_proba(X)

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Logarithms of the probabilities of the fitted inner classifier."""
        return self._fitted().predict_log_proba(X)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Decision values of the fitted inner classifier."""
        return self._fitted().decision_function(X)

    @available_if(_inner_has("score"))
    def score(self, X: ArrayLike, y: ArrayLike, **params: Any) -> float:  # noqa: ANN401
        """The inner estimator's own score; `sample_weight` is passed on."""
        return float(self._fitted().score(X, y, **params))

    def _fitted(self) -> Any:  # noqa: ANN401, an estimator of scikit-learn has no type
        check_is_fitted(self)
        return self.estimator_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Tags:
        """The inner estimator's kind, so that classifiers are cross-validated as such."""
        tags: Tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        return tags


def _check_takes_weights(estimator: BaseEstimator) -> None:
    step = unweighted_step(estimator)
    if step is not None:
        raise TypeError(
            "`estimator` must take `sample_weight` in fit; got one whose "
            f"{type(step).__name__}.fit does not. Use an estimator that does; a search such as "
            "GridSearchCV goes around CovariateShift, not into it."
        )
