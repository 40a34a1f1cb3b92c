"""SklearnRatio: the class prior, weights, calibration, rows left out, refusals."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.unit.estimators.closed_form import START, NormalPair, rmse

from secant import OverlapWarning, SklearnRatio
from secant.estimators.direct import DirectDiagnostics

PAIR = NormalPair(multivariate_normal([0.5, 0.5], [[1.0, 0.3], [0.3, 1.0]]))


@pytest.fixture(scope="module")
def samples():
    return PAIR.drawn(0, 1500, 600)


@pytest.fixture(scope="module")
def rows():
    return np.concatenate(PAIR.drawn(1, 500, 500))


def test_default_on_a_gaussian_pair():
    found = SklearnRatio(random_state=0).fit_samples(*PAIR.drawn(0, 10_000, 10_000))
    rows = PAIR.drawn(1, 10_000, 10_000)[1]
    assert rmse(found.log_ratio(rows), PAIR.log_ratio(rows)) < 0.15


@pytest.mark.parametrize("sizes", [(3000, 600), (600, 3000)])
def test_the_class_prior_is_undone(sizes, rows):
    found = SklearnRatio(random_state=0).fit_samples(*PAIR.drawn(0, *sizes))
    # Six coefficients from 600 rows: √(6/600) = 0.1. The prior not undone would be log 5 = 1.6.
    assert rmse(found.log_ratio(rows), PAIR.log_ratio(rows)) < 0.3
    assert found.log_prior_ == pytest.approx(np.log(sizes[1] / sizes[0]))
    assert abs(found.diagnostics_.normaliser.log_value) < 0.2


class Counter(GaussianNB):
    """A classifier that knows nothing but how many rows, or how much weight, it has seen."""

    def predict_proba(self, X):
        return np.tile(self.class_prior_, (len(X), 1))


def test_a_classifier_that_knows_only_the_prior_gives_zero(samples, rows):
    found = SklearnRatio(Counter(), random_state=0).fit_samples(*samples)
    np.testing.assert_allclose(found.log_ratio(rows), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.out_of_fold_log_ratio_1_, 0.0, atol=1e-12)
    weight_0 = np.linspace(0.1, 2.0, 1500)
    weighted = SklearnRatio(Counter(), folds=None).fit_samples(*samples, weight_0=weight_0)
    np.testing.assert_allclose(weighted.log_ratio(rows), 0.0, atol=1e-12)
    assert weighted.log_prior_ == pytest.approx(np.log(600 / weight_0.sum()))


PLAIN = {"logistic": LogisticRegression(C=np.inf), "GaussianNB": GaussianNB(var_smoothing=0.0)}
PIPELINE = {"in a pipeline": make_pipeline(StandardScaler(), LogisticRegression(C=np.inf))}


@pytest.mark.parametrize("name", PLAIN | PIPELINE)
def test_weights_are_repeated_rows(samples, rows, name):
    rng = np.random.default_rng(0)
    counts = [rng.integers(1, 4, len(x)) for x in samples]
    new = SklearnRatio((PLAIN | PIPELINE)[name], folds=None, random_state=0)
    repeated = clone(new).fit_samples(
        *(np.repeat(x, c, axis=0) for x, c in zip(samples, counts, strict=True))
    )
    weighted = clone(new).fit_samples(*samples, weight_0=counts[0], weight_1=counts[1])
    np.testing.assert_allclose(weighted.log_ratio(rows), repeated.log_ratio(rows), atol=1e-3)
    plain = clone(new).fit_samples(*samples)
    assert np.abs(plain.log_ratio(rows) - weighted.log_ratio(rows)).max() > 0.01


def test_weights_reach_a_calibrated_default(samples, rows):
    moved = multivariate_normal([-0.3, 0.0])
    weight_0 = np.exp(moved.logpdf(samples[0]) - START.logpdf(samples[0]))
    found = SklearnRatio(calibration="sigmoid", random_state=0)
    found.fit_samples(*samples, weight_0=weight_0)
    expected = PAIR.end.logpdf(rows) - moved.logpdf(rows)
    assert rmse(found.log_ratio(rows), expected) < 0.3
    assert rmse(PAIR.log_ratio(rows), expected) > 0.29


def test_out_of_fold_rows_are_in_order_and_left_out(samples):
    # One neighbour remembers its rows: only a row left out can be taken for one of the other's.
    found = SklearnRatio(KNeighborsClassifier(1), random_state=0)
    with pytest.warns(OverlapWarning):  # its ratio is 0 or infinite
        found.fit_samples(*samples)
    assert (found.log_ratio(samples[0]) < 0.0).all()
    assert (found.out_of_fold_log_ratio_0_ > 0.0).mean() > 0.1
    assert found.out_of_fold_log_ratio_0_.shape == (1500,)
    assert found.out_of_fold_log_ratio_1_.shape == (600,)


def test_out_of_fold_values_are_those_of_the_rows(samples):
    found = SklearnRatio(random_state=0).fit_samples(*samples)
    for out, x in zip(
        (found.out_of_fold_log_ratio_0_, found.out_of_fold_log_ratio_1_), samples, strict=True
    ):
        # The default has six coefficients: a fit to four fifths of the rows differs by little.
        assert rmse(out, found.log_ratio(x)) < 0.1
    assert isinstance(found.diagnostics_, DirectDiagnostics)
    losses = np.logaddexp(0.0, found.out_of_fold_log_ratio_0_).mean()
    losses += np.logaddexp(0.0, -found.out_of_fold_log_ratio_1_).mean()
    assert found.diagnostics_.held_out_loss == pytest.approx(losses)


def test_without_folds(samples):
    found = SklearnRatio(random_state=0).fit_samples(*samples).set_params(folds=None)
    found.fit_samples(*samples)
    assert found.diagnostics_ is None
    assert found.out_of_fold_log_ratio_0_ is None


def test_probabilities_of_zero_and_one_are_clipped(samples):
    forest = RandomForestClassifier(5, random_state=0)
    found = SklearnRatio(forest, clip=1e-3, folds=None).fit_samples(*samples)
    logit = found.log_ratio(samples[0]) + found.log_prior_
    assert logit.min() == pytest.approx(np.log(1e-3), abs=2e-3)
    assert np.isfinite(found.log_ratio(samples[1])).all()


@pytest.mark.parametrize("calibration", ["isotonic", "sigmoid"])
def test_calibration_mends_an_overconfident_forest(samples, rows, calibration):
    forest = RandomForestClassifier(20, max_features=None)
    plain, mended = (
        SklearnRatio(forest, calibration=c, folds=3, random_state=0) for c in (None, calibration)
    )
    with pytest.warns(OverlapWarning):
        plain.fit_samples(*samples)
    mended.fit_samples(*samples)
    assert mended.diagnostics_.held_out_loss < plain.diagnostics_.held_out_loss
    assert rmse(mended.log_ratio(rows), PAIR.log_ratio(rows)) < 0.6 * rmse(
        plain.log_ratio(rows), PAIR.log_ratio(rows)
    )


def test_the_seed_reaches_the_classifier(samples, rows):
    forest = RandomForestClassifier(5)
    a, b, other = (
        SklearnRatio(forest, folds=None, random_state=s).fit_samples(*samples).log_ratio(rows)
        for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, other)
    assert forest.random_state is None
    assert not hasattr(forest, "classes_")  # fit works on a clone


def test_many_columns_take_squares_only():
    rng = np.random.default_rng(0)
    found = SklearnRatio(folds=None).fit_samples(
        rng.normal(size=(300, 60)), rng.normal(size=(300, 60))
    )
    assert found.classifier_[-1].coef_.shape == (1, 120)


def test_boosting_needs_no_default(samples, rows):
    boosting = HistGradientBoostingClassifier(max_leaf_nodes=8, max_iter=30)
    found = SklearnRatio(boosting, random_state=0).fit_samples(*samples)
    assert rmse(found.log_ratio(rows), PAIR.log_ratio(rows)) < 0.5


def test_separable_samples_are_said(samples):
    with pytest.warns(
        OverlapWarning, match=r"averages .* over held-out rows of x_0, the true one 1"
    ):
        SklearnRatio(GaussianNB(), random_state=0).fit_samples(samples[0], samples[1] + 30.0)


BAD = {
    "no probabilities": (RidgeClassifier(), TypeError, "`classifier` must have predict_proba"),
    "a class": (LogisticRegression, TypeError, "`classifier` must be an instance of"),
    "a string": ("logistic", TypeError, "`classifier` must be an instance .* got 'logistic'"),
    "class_weight": (
        make_pipeline(LogisticRegression(class_weight="balanced")),
        ValueError,
        "must have class_weight=None; got logisticregression__class_weight='balanced'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_classifiers_refused(samples, name):
    classifier, error, message = BAD[name]
    with pytest.raises(error, match=message):
        SklearnRatio(classifier).fit_samples(*samples)


BAD_SETTINGS = {
    "calibration": ({"calibration": "platt"}, r"`calibration` must be one of .*; got 'platt'"),
    "folds": ({"folds": 1}, "`folds` must be an integer of at least 2, or None; got 1"),
    "clip": ({"clip": 0.5}, r"`clip` must lie in \(0, 0.5\); got 0.5"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings_refused(samples, name):
    settings, message = BAD_SETTINGS[name]
    with pytest.raises(ValueError, match=message):
        SklearnRatio(**settings).fit_samples(*samples)


@pytest.mark.parametrize(
    "classifier",
    [LinearDiscriminantAnalysis(), make_pipeline(StandardScaler(), KNeighborsClassifier())],
)
def test_weights_nobody_takes(samples, classifier):
    with pytest.raises(ValueError, match=r"\.fit takes no `sample_weight`; use a classifier that"):
        SklearnRatio(classifier).fit_samples(*samples, weight_1=np.arange(600.0))


def test_too_few_rows_to_calibrate(samples):
    with pytest.raises(
        ValueError, match=r"`calibration` needs at least 2 rows .* got \[2, 600\] with folds=5"
    ):
        SklearnRatio(calibration="sigmoid").fit_samples(samples[0][:2], samples[1])
