"""Estimators in scikit-learn's tools: cross-validation, searches, pipelines."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests import registry, tiny

import secant
from secant.models import AlignedSecant, ResidualMLP, SpectralSecant
from secant.tasks.annealing import Annealing

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0.0, 1.0, (300, 2)), RNG.normal(0.7, 1.0, (200, 2))])
Y = np.repeat([0, 1], [300, 200])  # one sample after the other, as concatenated
KERNEL = secant.KernelRatio(n_centers=50, random_state=0)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "roc_auc", "accuracy"])
def test_plain_cross_validation_of_concatenated_samples(scoring):
    scores = cross_val_score(KERNEL, X, Y, cv=3, scoring=scoring)
    assert np.isfinite(scores).all()
    if scoring == "roc_auc":  # of the true ratio 0.76
        assert scores.min() > 0.65


def test_folds_of_one_sample_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"got one class only, .*StratifiedKFold"):
        cross_val_score(KERNEL, X, Y, cv=KFold(2), error_score="raise")


@pytest.mark.parametrize("name", registry.ESTIMATORS)
def test_every_estimator_is_a_classifier_with_a_score(name):
    estimator = registry.new(name)
    assert is_classifier(estimator)
    assert hasattr(estimator, "score")
    assert not hasattr(estimator, "classes_")  # before the fit


def test_the_implied_classifier_has_the_prior_of_the_fit():
    fitted = clone(KERNEL).fit(X, Y)
    assert fitted.class_prior_ == 0.4
    odds = fitted.log_ratio(X) + np.log(0.4 / 0.6)
    np.testing.assert_allclose(fitted.decision_function(X), odds, atol=1e-12)
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities[:, 1], 1.0 / (1.0 + np.exp(-odds)), rtol=1e-12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(X), odds > 0.0)
    np.testing.assert_array_equal(fitted.classes_, [0, 1])
    # Mean probability of label 1: its share, within four standard errors.
    assert abs(probabilities[:, 1].mean() - 0.4) < 4.0 * probabilities[:, 1].std() / np.sqrt(500)


def test_weights_make_the_prior():
    weighted = clone(KERNEL).fit(X, Y, sample_weight=np.where(Y, 3.0, 2.0))
    assert weighted.class_prior_ == 0.5


def test_an_unfitted_classifier_says_so():
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(KERNEL, method)(X)


def test_the_prior_is_saved(tmp_path):
    fitted = clone(KERNEL).fit(X, Y)
    fitted.save(tmp_path / "model.secant")
    loaded = secant.load(tmp_path / "model.secant")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_pipelines_and_calibration():
    pipeline = make_pipeline(StandardScaler(), KERNEL)
    calibrated = CalibratedClassifierCV(pipeline, cv=3).fit(X, Y)
    assert calibrated.predict_proba(X).shape == (500, 2)
    found = cross_val_predict(pipeline, X, Y, cv=3, method="predict_proba")[:, 1]
    observed, predicted = calibration_curve(Y, found, n_bins=4, strategy="quantile")
    # 125 rows a bin: within four standard errors of at most 0.5/√125.
    assert np.abs(observed - predicted).max() < 4.0 * 0.5 / np.sqrt(125)


# A few steps learn little.
@pytest.mark.filterwarnings("ignore::secant.exceptions.UntrainedWarning")
@pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning")
def test_a_search_over_parameters_of_components():
    grid = {"training__steps": [5, 10], "model__width": [4, 8]}
    search = GridSearchCV(registry.new("secant ratio, no anchor"), grid, cv=3).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    best = search.best_estimator_
    assert best.training_.steps == search.best_params_["training__steps"]
    assert best.builder_.trunk.width == search.best_params_["model__width"]


def test_names_of_components_are_listed():
    found = secant.SecantRatio(tiny.MODEL, training=tiny.TRAINING).get_params()
    assert found["training__steps"] == tiny.TRAINING.steps
    assert found["model__trunk__width"] == tiny.MODEL.trunk.width
    assert "path__schedule" not in found  # it is None, and follows the documented default


def test_components_are_replaced_not_changed():
    model = SpectralSecant(order=3, trunk=ResidualMLP(width=8))
    one = secant.SecantRatio(model)
    other = clone(one).set_params(model__trunk__width=16, model__order=5, training__steps=7)
    assert other.model == SpectralSecant(order=5, trunk=ResidualMLP(width=16))
    assert other.training == secant.Training(steps=7)
    assert one.model == model
    assert one.training is None


def test_a_part_and_its_parameters_are_set_together():
    found = secant.SecantRatio().set_params(model__width=9, model=AlignedSecant(ResidualMLP(4)))
    assert found.model == AlignedSecant(ResidualMLP(9))
    staged = secant.StagedRatio().set_params(estimator=KERNEL, estimator__n_centers=7)
    assert staged.estimator.n_centers == 7


def test_parameters_of_parts_that_stand_for_none():
    assert secant.ClassifierRatio().set_params(trunk__depth=1).trunk.depth == 1
    assert secant.PathEntropy().set_params(model__width=9).model.trunk.width == 9
    density = secant.DensityEstimator().set_params(annealing__n_moves=2)
    assert density.annealing == Annealing(n_moves=2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("training__stpes", r"'stpes' of `training`; did you mean 'steps'\?"),
        ("model__trunk__widht", r"'widht' of `model__trunk`; did you mean 'width'\?"),
        ("model__zzz", r"'zzz' of `model`; it has 'order', 'trunk'"),
        ("anchor__size", r"'size' of `anchor`: it is True, which has no parameters"),
        ("trianing__steps", r"Invalid parameter 'trianing' for estimator SecantRatio"),
    ],
)
def test_unknown_names_of_components(name, message):
    with pytest.raises(ValueError, match=message):
        secant.SecantRatio().set_params(**{name: 1})


def test_values_are_checked_by_the_component():
    with pytest.raises(ValueError, match="Training needs steps > 0; got -1"):
        secant.SecantRatio().set_params(training__steps=-1)
