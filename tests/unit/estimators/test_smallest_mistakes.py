"""Smallest inputs that once caused a wrong error, an unrelated warning, or none."""

import warnings

import numpy as np
import pytest

from secant import KernelRatio, OutlierWarning, SklearnRatio
from secant._spread import Spread
from secant.diagnostics import feature_drift
from secant.estimators.checks import checked_rows, checked_weights

ROWS = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ma.array(ROWS, mask=ROWS == 3.0), "1 masked entries; fill or drop"),
        ({"a": ROWS[:, 0]}, "Reading it failed with KeyError"),
        (np.full((4, 2), 10**400, dtype=object), "too large"),
        (np.full((4, 2), np.longdouble(10.0) ** 400), "within double precision, up to 1.8e308"),
        (np.array([[-np.inf, np.inf]] * 4), "infinity"),
    ],
    ids=["masked", "dictionary", "huge whole number", "long double", "infinities"],
)
def test_rows_are_refused_by_name(rows, message):
    with pytest.raises((TypeError, ValueError), match=f"(?s)`x_0` must be .*{message}"):
        KernelRatio().fit_samples(rows, ROWS)


def test_rows_asked_for_are_refused_by_name():
    fitted = KernelRatio(n_centers=3, random_state=0).fit_samples(
        np.random.default_rng(0).normal(size=(30, 2)), np.random.default_rng(1).normal(size=(30, 2))
    )
    for rows in (np.zeros((4, 2), dtype="datetime64[s]"), np.ma.array(ROWS, mask=ROWS == 3.0)):
        with pytest.raises(ValueError, match="`X` must be a numeric array"):
            fitted.log_ratio(rows)


@pytest.mark.parametrize(
    "weight", ["balanced", [1j] * 4, [None, "a", 1.0, 2.0], [[1.0], [1.0, 2.0]]]
)
def test_weights_are_refused_by_name(weight):
    with pytest.raises((TypeError, ValueError), match=r"`weight_1` must be None, a number, or 4"):
        checked_weights(weight, 4, "weight_1")


@pytest.mark.parametrize("size", [1.7e308, 1e-320])
def test_weights_of_any_size_keep_their_shares(size):
    found = checked_weights(np.array([size, size, size, size / 2]), 4, "weight_0")
    np.testing.assert_allclose(found / found.sum(), np.array([2, 2, 2, 1]) / 7, rtol=1e-3)


def test_one_row_of_each_sample_has_a_drift_of_no_significance():
    assert feature_drift(np.zeros((1, 1)), np.ones((1, 1)))[0].p_value == 1.0


def test_the_largest_numbers_differ_without_overflow():
    largest = np.finfo(np.float64).max
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = feature_drift(np.array([[largest], [1.0]]), np.array([[-largest], [1.0]]))
        spread = Spread.of(np.array([[largest], [1.0]]), np.array([[-largest], [1.0]]))
    assert np.isfinite(found[0].mean_shift)
    assert np.isfinite(spread.scale).all()


def test_a_narrow_column_far_from_zero_is_not_constant():
    x = 1e13 + np.arange(20.0)[:, None]
    assert Spread.of(x, x).scale[0] == pytest.approx(np.arange(20.0).std(), rel=1e-9)


def test_a_sparse_column_with_one_huge_value_keeps_its_scale():
    x = np.zeros((400, 1))
    x[:19, 0], x[19, 0] = 1.0 + np.arange(19) % 2, 1e30
    with pytest.warns(OutlierWarning, match=r"with 2 such value\(s\) in 800 rows"):
        assert Spread.of(x, x).scale[0] < 10.0


def test_float16_rows_are_classified_in_double_precision():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(60, 2)).astype(np.float16)
    fitted = SklearnRatio(random_state=0).fit_samples(half[:30], half[30:])
    np.testing.assert_array_equal(fitted.log_ratio(half), fitted.log_ratio(half.astype(float)))


def test_a_list_is_as_good_as_an_array():
    np.testing.assert_array_equal(checked_rows(ROWS.tolist(), "x_0"), ROWS)
