"""Metrics of scikit-learn over weighted rows, with cached predictions."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import type_of_target

Metric = str | Callable[..., float]

_METHODS = ("predict", "predict_proba", "decision_function")
_SCORES = {"y_score": ("decision_function", "predict_proba"), "y_proba": "predict_proba"}


class _KnownPredictions:
    """A model with cached predictions, indexed by row number."""

    def __init__(self, model: object, X: object) -> None:
        self._model, self._X = model, X
        self._known: dict[str, np.ndarray] = {}
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def __getattr__(self, name: str) -> Callable[[Int[np.ndarray, " k"]], np.ndarray]:
        if name not in _METHODS or not hasattr(self._model, name):
            raise AttributeError(name)
        if name not in self._known:
            self._known[name] = np.asarray(getattr(self._model, name)(self._X))

        def known(rows: Int[np.ndarray, " k"]) -> np.ndarray:
            return self._known[name][rows]

        known.__name__ = name  # scikit-learn tells methods apart by it
        return known

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self._model)


class _GivenPredictions:
    """A model whose predictions are an array: classes or numbers (n,), or probabilities (n, k)."""

    def __init__(self, predictions: ArrayLike, y: np.ndarray) -> None:
        self._given = np.asarray(predictions)
        self._is_classifier = type_of_target(y) in ("binary", "multiclass")
        if self._is_classifier:
            self.classes_ = np.unique(y)

    def predict(self, X: object) -> np.ndarray:
        del X
        if self._given.ndim == 1:
            return self._given
        return np.asarray(self.classes_[self._given.argmax(axis=1)])

    def predict_proba(self, X: object) -> np.ndarray:
        del X
        if self._given.ndim == 2:
            return self._given
        return np.column_stack([1.0 - self._given, self._given])

    def decision_function(self, X: object) -> np.ndarray:
        probabilities = self.predict_proba(X)
        return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities

    def __sklearn_tags__(self) -> Tags:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return get_tags(DummyClassifier() if self._is_classifier else DummyRegressor())


class WeightedMetric:
    """A metric of one model on labelled rows, as a function of the rows' weights.

    A metric without weights is computed on rows resampled systematically by their weights.

    Args:
        metric: name of a scorer, a scorer, or a function of y_true and y_pred.
        model: fitted; or its predictions, an array.
        X: (n, d) rows as the model takes them.
        y: (n,) the truth.
    """

    def __init__(self, metric: Metric, model: object, X: object, y: ArrayLike) -> None:
        self._y = np.asarray(y)
        self._scorer = _scorer(metric)
        self.name = metric if isinstance(metric, str) else getattr(metric, "__name__", str(metric))
        is_array = isinstance(model, np.ndarray | list | tuple) or hasattr(model, "to_numpy")
        self._model = _KnownPredictions(_GivenPredictions(model, self._y) if is_array else model, X)  # type: ignore[arg-type]
        self._takes_weights = True

    def __call__(self, weights: Float[np.ndarray, " n"]) -> float:
        """The metric over the rows with these weights; NaN if it is undefined."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            if self._takes_weights:
                try:
                    return self._value(np.arange(self._y.size), sample_weight=weights)
                except TypeError as error:
                    if "sample_weight" not in str(error):
                        raise
                    self._takes_weights = False
            return self._value(_drawn(weights))

    def _value(self, rows: Int[np.ndarray, " k"], **weights: np.ndarray) -> float:
        return float(self._scorer(self._model, rows, self._y[rows], **weights))


def _drawn(weights: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Systematic resampling: n rows, each in proportion to its weight up to rounding."""
    n = weights.size
    ends = np.cumsum(weights) / weights.sum()
    return np.minimum(np.searchsorted(ends, (np.arange(n) + 0.5) / n), n - 1)


def _scorer(metric: Metric) -> Callable[..., Any]:
    if isinstance(metric, str):
        names = get_scorer_names()
        if metric not in names:
            near = difflib.get_close_matches(metric, names, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}?" if near else "such as 'accuracy' or 'r2'."
            raise ValueError(
                f"`metric` must be the name of a scorer of scikit-learn, a scorer, or a function "
                f"of y_true and y_pred; got {metric!r}; {hint}"
            )
        return get_scorer(metric)
    if not callable(metric):
        raise TypeError(f"`metric` must be a name or a function; got {metric!r}.")
    first, second, *_ = [*inspect.signature(metric).parameters, "", ""]
    if first == "estimator":
        return metric
    return make_scorer(metric, response_method=_SCORES.get(second, "predict"))
