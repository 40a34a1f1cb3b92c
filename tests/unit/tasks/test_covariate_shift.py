import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from secant import CovariateShift, KernelRatio, SklearnRatio


def ratio():
    return SklearnRatio(LogisticRegression(), folds=None)


def shifted(seed=0, n=300):
    """Source and target rows, and a y that no straight line fits in both."""
    rng = np.random.default_rng(seed)
    X, X_target = rng.normal(size=(n, 2)), rng.normal([0.5, 0.0], 1.0, size=(n + 50, 2))
    return X, X[:, 0] ** 2 + 0.1 * rng.normal(size=n), X_target


def labelled(seed=0):
    X, y, X_target = shifted(seed)
    return X, np.where(y > 1.0, "many", "few"), X_target


def regression(estimator=None):
    return CovariateShift(estimator or LinearRegression(), ratio(), random_state=0)


def test_the_estimator_is_fitted_with_the_weights():
    X, y, X_target = shifted()
    model = regression().fit(X, y, X_target)
    by_hand = LinearRegression().fit(X, y, sample_weight=np.asarray(model.weights_))
    np.testing.assert_allclose(model.predict(X_target), by_hand.predict(X_target))
    assert model.weights_.weights.shape == y.shape
    assert model.n_features_in_ == 2
    assert not hasattr(model, "predict_proba")
    assert is_regressor(model)


def test_it_predicts_the_target_better_than_an_unweighted_fit():
    for seed in range(5):
        X, y, X_target = shifted(seed)
        truth = X_target[:, 0] ** 2
        weighted = regression().fit(X, y, X_target).score(X_target, truth)
        assert weighted > LinearRegression().fit(X, y).score(X_target, truth)


def test_a_classifier_keeps_its_methods():
    X, y, X_target = labelled()
    model = CovariateShift(LogisticRegression(), ratio(), random_state=0).fit(X, y, X_target)
    assert is_classifier(model)
    assert list(model.classes_) == ["few", "many"]
    assert model.predict_proba(X_target).shape == (350, 2)
    assert model.predict_log_proba(X_target).shape == (350, 2)
    assert model.decision_function(X_target).shape == (350,)
    assert 0.0 < model.score(X, y, sample_weight=model.weights_.weights) <= 1.0


@pytest.mark.parametrize("depth", [1, 2])
def test_weights_reach_the_end_of_a_pipeline(depth):
    X, y, X_target = shifted()
    pipeline = Ridge()
    for _ in range(depth):
        pipeline = make_pipeline(StandardScaler(), pipeline)
    model = regression(pipeline).fit(X, y, X_target)
    scaled = StandardScaler().fit_transform(X)
    by_hand = Ridge().fit(scaled, y, sample_weight=model.weights_.weights)
    np.testing.assert_allclose(model.predict(X), by_hand.predict(scaled))


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsRegressor(),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), KNeighborsRegressor())),
    ],
    ids=["plain", "pipeline", "nested"],
)
def test_an_estimator_that_takes_no_weights_is_refused(estimator):
    with pytest.raises(TypeError, match=r"KNeighborsRegressor\.fit does not"):
        regression(estimator).fit(*shifted())


def test_a_search_inside_is_refused_with_advice():
    with pytest.raises(TypeError, match="goes around CovariateShift"):
        regression(GridSearchCV(Ridge(), {"alpha": [1.0]})).fit(*shifted())


def test_a_search_around_it_sets_inner_parameters():
    X, y, X_target = labelled()
    model = CovariateShift(
        make_pipeline(StandardScaler(), LogisticRegression()), ratio(), n_folds=2, random_state=0
    )
    grid = {"estimator__logisticregression__C": [1e-3, 1.0], "clip": [None, 5.0]}
    search = GridSearchCV(model, grid, cv=2).fit(X, y, X_target=X_target)
    assert search.best_estimator_.weights_.weights.size == y.size
    assert set(search.predict(X_target)) <= {"few", "many"}


def test_clone_and_parameters():
    model = regression(Ridge(alpha=2.0))
    assert clone(model).get_params()["estimator__alpha"] == 2.0
    model.set_params(ratio__classifier__C=3.0, clip=7.0)
    assert model.ratio.classifier.C == 3.0
    before = Ridge()
    CovariateShift(before, ratio(), random_state=0).fit(*shifted())
    assert not hasattr(before, "coef_")


def test_the_same_seed_gives_the_same_weights():
    a, b = (regression().fit(*shifted()).weights_.weights for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_before_fit_it_says_so():
    with pytest.raises(NotFittedError):
        regression().predict(np.zeros((2, 2)))


def test_a_target_of_other_columns_is_refused():
    X, y, X_target = shifted()
    with pytest.raises(ValueError, match="`X_target` must have shape"):
        regression().fit(X, y, X_target[:, :1])
    with pytest.raises(ValueError, match="`X_target` must be a numeric array"):
        regression().fit(X, y, np.full_like(X_target, np.nan))


def test_names_of_columns_are_remembered_and_compared():
    X, y, X_target = shifted()

    def table(rows, *names):
        return pa.table({name: rows[:, i] for i, name in enumerate(names)})

    model = regression().fit(table(X, "age", "bmi"), y, table(X_target, "age", "bmi"))
    assert list(model.feature_names_in_) == ["age", "bmi"]
    with pytest.raises(ValueError, match="`X` and `X_target` must have the same columns"):
        regression().fit(table(X, "age", "bmi"), y, table(X_target, "bmi", "age"))


class SelfTarget(CovariateShift):
    """The target is the source: what scikit-learn's checks, which know none, can call."""

    def fit(self, X, y):
        return super().fit(X, y, X)


@parametrize_with_checks(
    [
        SelfTarget(Ridge(), ratio(), n_folds=2, random_state=0),
        SelfTarget(LogisticRegression(), KernelRatio(bandwidth=[1.0]), n_folds=2, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning")  # on a handful of rows
@pytest.mark.filterwarnings("ignore::secant.exceptions.ClippedRatioWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
