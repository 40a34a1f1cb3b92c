"""Classifiers of scikit-learn, calibrated as its user guide recommends."""

from __future__ import annotations

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from secant.estimators import SklearnRatio

__all__ = ["boosted_trees", "logistic_regression"]


def logistic_regression(seed: int) -> SklearnRatio:
    """Logistic regression on standardised columns, which needs no calibration."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return SklearnRatio(classifier, folds=None, random_state=seed)


def boosted_trees(seed: int) -> SklearnRatio:
    """Histogram gradient boosting with early stopping, then isotonic calibration on three folds."""
    trees = HistGradientBoostingClassifier(early_stopping=True, random_state=seed)
    classifier = CalibratedClassifierCV(trees, method="isotonic", cv=3)
    return SklearnRatio(classifier, folds=None, random_state=seed)
