"""Mutual information of Gaussians by a classifier whose family contains the truth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import secant
from secant import (
    AdaptiveMargins,
    MIEstimator,
    MIOptions,
    PathEntropy,
    SklearnRatio,
    Standardise,
    Training,
)
from secant.estimators import GaussianMoments
from secant.models.networks import ResidualMLP
from secant.models.velocity import MeanVelocity
from secant.tasks.information import OnPath

N = 1500
QUICK = {"correct": False, "second_opinion": False, "random_state": 0}


def quadratic():
    """Logistic regression on squares and products: Gaussian ratios are of this form."""
    model = make_pipeline(PolynomialFeatures(2), LogisticRegression(C=100.0, max_iter=1000))
    return SklearnRatio(model, folds=None)


def chain(n=N, seed=0):
    """x → z → y with noise, and y a bit of x: a Gaussian triple."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    z = 0.7 * x + 0.7 * rng.normal(size=n)
    y = 0.6 * z + 0.4 * x + 0.6 * rng.normal(size=n)
    mixing = np.array([[1.0, 0, 0], [0.7, 0.7, 0], [0.82, 0.42, 0.6]])  # of x, z, y
    return x, y, z, mixing @ mixing.T


def entropy(covariance):
    return 0.5 * np.linalg.slogdet(np.atleast_2d(covariance))[1]


def sub(covariance, *indices):
    return covariance[np.ix_(indices, indices)]


def estimate(x, y, z=None, **options):
    return secant.mutual_information(x, y, z, estimator=quadratic(), **{**QUICK, **options})


def test_gaussian_information_with_its_error():
    x, y, _, c = chain()
    found = estimate(x, y)
    truth = entropy(c[0, 0]) + entropy(c[2, 2]) - entropy(sub(c, 0, 2))
    assert abs(found.estimate - truth) < 4.0 * found.standard_error
    assert found.standard_error < 0.05
    assert found.interval[0] < truth < found.interval[1]
    assert found.pointwise.mean() == pytest.approx(found.estimate)
    assert found.p_value < 0.01
    assert found.diagnostics == ()  # these fits hold no rows out


def test_conditional_information_is_by_the_chain_rule():
    x, y, z, c = chain()
    found = estimate(x, y, z)
    truth = entropy(sub(c, 0, 1)) + entropy(sub(c, 1, 2)) - entropy(c) - entropy(c[1, 1])
    assert abs(found.estimate - truth) < 4.0 * found.standard_error
    assert found.pointwise.mean() == pytest.approx(found.estimate)
    assert found.p_value < 0.01


def test_conditional_information_of_independent_variables_is_none():
    rng = np.random.default_rng(0)
    z = rng.normal(size=N)
    found = estimate(z + rng.normal(size=N), z + rng.normal(size=N), z)
    assert abs(found.estimate) < 4.0 * found.standard_error
    assert found.p_value > 0.01


def test_total_correlation_of_three():
    x, y, z, c = chain()
    options = MIOptions(estimator=quadratic(), correct=False, second_opinion=False)
    table = np.stack([x, z, y], axis=1)
    found = secant.total_correlation(table, options=options, random_state=0)
    truth = sum(entropy(v) for v in np.diag(c)) - entropy(c)
    assert abs(found.estimate - truth) < 4.0 * found.standard_error
    listed = secant.total_correlation([x, z, y], options=options, random_state=0)
    assert listed.estimate == found.estimate


def test_scale_and_monotone_maps_do_not_matter():
    x, y, *_ = chain()
    plain = estimate(x, y)
    bent = estimate(1e9 * np.sinh(x) - 3.0, 1e-9 * y**3)
    assert bent.estimate == plain.estimate
    assert bent.p_value == plain.p_value


def test_margins_can_be_left_as_they_are():
    x, y, *_ = chain()
    assert estimate(x, y, normal_margins=False).estimate != estimate(x, y).estimate


def test_bits_are_nats_over_log_2():
    x, y, *_ = chain()
    nats, bits = estimate(x, y), estimate(x, y, base="bits")
    for name in ("estimate", "standard_error", "correction"):
        assert getattr(bits, name) == pytest.approx(getattr(nats, name) / math.log(2))
    np.testing.assert_allclose(bits.pointwise, nats.pointwise / math.log(2))
    assert "bits" in str(bits)
    assert (bits.settings["base"], bits.settings["confidence"]) == ("'bits'", "0.95")


def test_the_interval_is_wider_with_more_confidence():
    x, y, *_ = chain()
    ninety_five, half = estimate(x, y), estimate(x, y, confidence=0.5)
    half_width = (half.interval[1] - half.interval[0]) / 2
    assert half_width == pytest.approx(0.67449 * half.standard_error, rel=1e-4)
    assert ninety_five.interval[1] - ninety_five.estimate == pytest.approx(
        1.95996 * ninety_five.standard_error, rel=1e-4
    )


def test_the_correction_is_spread_over_the_rows_and_half_of_it_is_uncertain():
    x, y, *_ = chain()
    raw, corrected = estimate(x, y), estimate(x, y, correct=True)
    assert corrected.correction != 0.0
    assert corrected.estimate == pytest.approx(raw.estimate + corrected.correction)
    np.testing.assert_allclose(corrected.pointwise, raw.pointwise + corrected.correction)
    assert corrected.standard_error == pytest.approx(
        math.hypot(raw.standard_error, corrected.correction / 2)
    )


def entropy_estimator():
    return PathEntropy(
        MeanVelocity(ResidualMLP(width=8, depth=0)),
        anchor=GaussianMoments(),
        training=Training(steps=50, batch_size=64, evaluate_every=25),
    )


def test_the_second_opinion_is_shown_where_it_differs():
    x, y, *_ = chain()
    found = estimate(x, y, second_opinion=entropy_estimator())
    assert not found.opinions_differ
    assert abs(found.on_path.estimate - found.estimate) < 3 * found.on_path.standard_error
    assert "on the path" not in str(found)
    far_off = replace(found, estimate=0.5, on_path=OnPath(0.7, 0.02))
    assert far_off.opinions_differ
    assert "on the path: 0.7000 ± 0.0200 nats" in str(far_off)


def test_there_is_no_second_opinion_of_columns_with_atoms():
    x, y, *_ = chain(400)
    found = estimate(x, y > 0.0, second_opinion=entropy_estimator())
    assert found.on_path is None
    assert found.p_value < 0.02


def test_information_along_the_path_alone():
    x, y, _, c = chain()
    found = secant.mutual_information(x, y, estimator=entropy_estimator(), **QUICK)
    truth = entropy(c[0, 0]) + entropy(c[2, 2]) - entropy(sub(c, 0, 2))
    assert abs(found.estimate - truth) < 0.08
    assert found.pointwise is None
    assert math.isnan(found.p_value)


def test_the_matrix_holds_every_pair():
    x, y, z, _ = chain(400)
    options = MIOptions(estimator=quadratic(), correct=False, second_opinion=False)
    table = np.stack([x, z, y], axis=1)
    found = secant.mutual_information_matrix(table, options=options, random_state=0)
    assert found.names == ("x0", "x1", "x2")
    assert (found.settings["correct"], found.settings["random_state"]) == ("False", "0")
    np.testing.assert_array_equal(found.estimate, found.estimate.T)
    assert np.isnan(np.diag(found.estimate)).all()
    assert (found.p_value[np.triu_indices(3, 1)] < 0.05).all()
    axes = found.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["x0", "x1", "x2"]
    assert len(axes.texts) == 6


def test_the_adapter_gives_a_number():
    x, y, *_ = chain(400)
    options = MIOptions(estimator=quadratic(), correct=False, second_opinion=False)
    value = MIEstimator(options, random_state=0).estimate(x[:, None], y[:, None])
    assert isinstance(value, float)
    assert value == estimate(x, y).estimate
    assert MIEstimator(options).parameters()["n_ensemble"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(30), np.zeros(31)), "same rows in the same order; got x 30, y 31"),
        ((np.zeros(5), np.zeros(5)), "`x` must have at least 20 rows"),
        ((np.full(30, np.nan), np.zeros(30)), "`x` must be a numeric array"),
    ],
)
def test_bad_data_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        secant.mutual_information(*arguments)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"base": "bans"}, "`base` must be 'nats' or 'bits'; got 'bans'"),
        ({"confidence": 1.0}, "`confidence` must lie between 0 and 1"),
        ({"n_folds": 1}, "`n_folds` must be a whole number"),
        ({"n_ensemble": 0}, "`n_ensemble` must be a whole number of at least 1"),
    ],
)
def test_bad_options_are_refused(option, message):
    x, y, *_ = chain(100)
    with pytest.raises(ValueError, match=message):
        secant.mutual_information(x, y, **option)


def test_one_variable_has_no_total_correlation():
    with pytest.raises(ValueError, match="at least two variables; got 1"):
        secant.total_correlation(np.zeros((30, 1)))


@pytest.mark.parametrize(
    ("normal_margins", "scaling"), [(True, Standardise()), (False, AdaptiveMargins())]
)
def test_normal_scores_get_no_further_tables(normal_margins, scaling):
    plan = MIOptions(normal_margins=normal_margins).plan(1_000)
    assert plan.estimator.near.scaling == scaling
