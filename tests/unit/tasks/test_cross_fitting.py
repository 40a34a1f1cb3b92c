import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from secant import SklearnRatio
from secant.tasks.cross_fitting import RatioEnsemble, cross_fit, fold_numbers


def samples(n_0=60, n_1=40):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_0, 2)), rng.normal(1.0, size=(n_1, 2))


def estimator():
    return SklearnRatio(LogisticRegression(), random_state=0)


def test_every_row_is_scored_by_the_fit_of_its_fold():
    x_0, x_1 = samples()
    found = cross_fit(estimator(), x_0, x_1, n_folds=4, random_state=0)
    for k, ensemble in enumerate(found.ensembles):
        np.testing.assert_allclose(
            found.log_ratio_1[found.fold_1 == k], ensemble.log_ratio(x_1[found.fold_1 == k])
        )
        np.testing.assert_allclose(
            found.log_ratio_0[found.fold_0 == k], ensemble.log_ratio(x_0[found.fold_0 == k])
        )


def test_a_row_does_not_affect_its_own_score():
    x_0, x_1 = samples()
    before = cross_fit(estimator(), x_0, x_1, n_folds=4, random_state=0)
    own_fold = before.fold_1 == before.fold_1[7]
    moved = x_1.copy()
    moved[7] += 3.0
    after = cross_fit(estimator(), x_0, moved, n_folds=4, random_state=0)
    own_fold[7] = False
    np.testing.assert_array_equal(after.log_ratio_1[own_fold], before.log_ratio_1[own_fold])
    others = before.fold_1 != before.fold_1[7]
    assert np.all(after.log_ratio_1[others] != before.log_ratio_1[others])


def test_folds_are_even():
    counts = np.bincount(fold_numbers(23, 5, np.random.RandomState(0)))
    assert sorted(counts) == [4, 4, 5, 5, 5]


def test_an_ensemble_averages_log_ratios():
    x_0, x_1 = samples()
    ensemble = RatioEnsemble.fitted(
        estimator(), x_0, x_1, n_members=3, rng=np.random.RandomState(0)
    )
    assert len({member.random_state for member in ensemble.members}) == 3
    each = [member.log_ratio(x_0) for member in ensemble.members]
    np.testing.assert_allclose(ensemble.log_ratio(x_0), np.mean(each, axis=0))


@pytest.mark.parametrize("n_folds", [1, 21, 2.5, True])
def test_a_bad_number_of_folds_is_refused(n_folds):
    with pytest.raises(ValueError, match="`n_folds` must be a whole number from 2 to 20"):
        cross_fit(estimator(), *samples(), n_folds=n_folds)


def test_a_bare_classifier_is_refused_with_advice():
    with pytest.raises(TypeError, match=r"SklearnRatio\(classifier\)"):
        cross_fit(LogisticRegression(), *samples())


def test_tables_with_columns_in_another_order_are_refused_under_the_callers_names():
    a, b = (
        pd.DataFrame(np.zeros((9, 2)), columns=names) for names in (["age", "bmi"], ["bmi", "age"])
    )
    with pytest.raises(ValueError, match="`source` and `target` must have the same columns"):
        cross_fit(estimator(), a, b, names=("source", "target"))
    with pytest.raises(ValueError, match=r"`target` must have shape \(n, d\) with d = 2"):
        cross_fit(estimator(), samples()[0], np.zeros((9, 3)), names=("source", "target"))


@pytest.mark.parametrize("n", [2, 3])
def test_so_few_rows_are_refused_by_their_number(n):
    # Not with a range of folds from 2 to 1.
    with pytest.raises(ValueError, match=f"at least 4 rows of either sample; got {n}"):
        cross_fit(estimator(), *samples(n_0=n), n_folds=2)
