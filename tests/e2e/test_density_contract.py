"""scikit-learn's own checks on density estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from secant import DensityEstimator, SklearnRatio

# The checks fit twenty rows of integers and noise: atoms, and too few rows for a normaliser.
pytestmark = [
    pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning"),
    pytest.mark.filterwarnings("ignore::secant.exceptions.AtomsWarning"),
    pytest.mark.filterwarnings("ignore::secant.exceptions.NormaliserWarning"),
]

QUICK = SklearnRatio(folds=None)


@parametrize_with_checks(
    [
        DensityEstimator("copula-mixture", estimator=QUICK, dequantise="auto", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
