"""The same numbers in another form or unit give the same ratio; problems raise named warnings."""

from functools import partial

import numpy as np
import pytest
from tests import registry

from secant import ConstantColumnWarning, OutlierWarning, PrecisionWarning
from secant.exceptions import UntrainedWarning

# The slow ones train along a path, and compile for it.
NAMES = registry.slow_but_for(
    "classifier, nce",
    "kernel, ulsif",
    "scikit-learn",
    names=(
        "classifier, nce",
        "kernel, ulsif",
        "scikit-learn",
        "secant ratio",
        "ISA-DRE",
        "CTSM-v",
        "DRE-∞",
        "TRE",
        "switch",
    ),
)
SHIFT = np.array([0.7, 0.0, 0.0])
RNG = np.random.default_rng(0)
X_0, X_1 = RNG.normal(size=(300, 3)), RNG.normal(SHIFT, size=(300, 3))
ROWS = np.concatenate([X_0[:20], X_1[:20]])
TRUTH = ROWS @ SHIFT - 0.5 * 0.7**2
DATA = (X_0, X_1, ROWS)
FORMS = {
    "Fortran order": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: _read_only(x),
    "long double": lambda x: x.astype(np.longdouble),
    "list": lambda x: x.tolist(),
}
TYPES = {
    "float16": lambda x: x.astype(np.float16),
    "float32": lambda x: x.astype(np.float32),
    "int8": lambda x: np.rint(20.0 * x).astype(np.int8),
    "int64": lambda x: np.rint(20.0 * x).astype(np.int64),
    "bool": lambda x: x > 0.0,
}


def _read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


@pytest.fixture(scope="module", params=NAMES)
def new(request):
    # With 0, a row far out is held out: of thirty that is enough to warn of little overlap.
    return partial(registry.new, request.param, random_state=1)


@pytest.fixture(scope="module")
def plain(new):
    return fitted(new, DATA)


def fitted(new, data):
    x_0, x_1, rows = data
    return new().fit_samples(x_0, x_1).log_ratio(rows)


def assert_alike(found, plain):
    """Of one truth, of standard deviation 0.7 at these rows, but of other rows or weights."""
    assert np.sqrt(np.mean((found - plain) ** 2)) < 0.55
    for answers in (found, plain):  # both have learned it: constant ratios would agree too
        assert answers.std() > 0.3
        assert np.corrcoef(answers, TRUTH)[0, 1] > 0.6


def test_the_plain_fit_has_learned_something(plain):
    assert_alike(plain, plain)


@pytest.mark.parametrize("form", FORMS)
def test_another_form_gives_the_same_bits(new, plain, form):
    np.testing.assert_array_equal(fitted(new, map(FORMS[form], DATA)), plain)


@pytest.mark.parametrize("kind", TYPES)
def test_another_type_gives_the_bits_of_its_float64(new, kind):
    data = [TYPES[kind](x) for x in DATA]
    expected = fitted(new, [x.astype(np.float64) for x in data])
    np.testing.assert_array_equal(fitted(new, data), expected)


UNITS = {
    "1e-12": 1e-12,
    "1e12": 1e12,
    "1e-300": 1e-300,
    "1e300": 1e300,
    "a column each": np.array([1e-12, 1.0, 1e12]),
}


@pytest.mark.parametrize("unit", UNITS)
def test_another_unit_gives_the_same_ratio(new, plain, unit):
    # A product may round, by 1e-16; 40 steps in single precision make little of it.
    found = fitted(new, [x * UNITS[unit] for x in DATA])
    np.testing.assert_allclose(found, plain, atol=1e-4)


@pytest.mark.parametrize(("shift", "atol"), [(1e8, 1e-4), (1e12, 0.02)])
def test_a_far_origin_costs_no_more_than_its_digits(new, plain, shift, atol):
    # 1e8 + x holds x to 1.5e-8, 1e12 + x to 1.2e-4.
    np.testing.assert_allclose(fitted(new, [x + shift for x in DATA]), plain, atol=atol)


@pytest.mark.parametrize("value", [7.0, 0.1, 1e300])
def test_a_constant_column_is_told_and_adds_nothing(new, plain, value):
    data = [np.c_[x, np.full(len(x), value)] for x in DATA]
    with pytest.warns(ConstantColumnWarning, match=r"1 of 4 columns .* column 3"):
        found = fitted(new, data)
    assert_alike(found, plain)


@pytest.mark.parametrize("value", [1e6, 1e30, 1e305])
@pytest.mark.parametrize("which", [0, 1])
def test_one_huge_value_is_told_and_leaves_the_others_alone(new, plain, which, value):
    data = [x.copy() for x in DATA]
    data[which][100, 1] = value
    with pytest.warns(OutlierWarning, match=r"1 of 3 columns .* column 1, with 1 such value"):
        found = fitted(new, data)
    assert np.isfinite(found).all()
    assert_alike(found, plain)


@pytest.mark.parametrize("value", [1e6, -1e30, 1.7e308])
def test_a_huge_row_that_is_asked_for_is_finite_and_leaves_the_others_alone(new, plain, value):
    estimator = new().fit_samples(X_0, X_1)
    found = estimator.log_ratio(np.concatenate([ROWS, np.full((2, 3), value)]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:-2], plain, atol=1e-5)  # blocks of other rows round otherwise


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-9])
def test_a_repeated_column_adds_nothing(new, plain, factor):
    found = fitted(new, [np.c_[x, factor * x] for x in DATA])
    assert np.isfinite(found).all()
    assert_alike(found, plain)


# Of so few rows: little overlap, a line fitted below 0, or no step that is surely better.
FEW_ROWS = pytest.mark.filterwarnings(
    "ignore::secant.OverlapWarning",
    "ignore::secant.ClippedRatioWarning",
    "ignore::secant.exceptions.UntrainedWarning",
)


@FEW_ROWS
@pytest.mark.parametrize("n", [2, 20])
def test_few_and_repeated_rows_are_told_apart_if_at_all(new, n):
    assert np.isfinite(fitted(new, (X_0[:n], X_1[:n], ROWS))).all()
    # With copies, held-out rows are also training rows.
    x_0, x_1 = (np.repeat(x[:n], 15, axis=0) for x in (X_0, X_1))
    zero, one, others = np.split(fitted(new, (x_0, x_1, np.r_[x_0, x_1, ROWS])), [15 * n, 30 * n])
    assert np.isfinite(others).all()
    assert one.mean() >= zero.mean()


def test_whole_numbers_beyond_double_precision_are_told_and_become_one(new):
    # At 2^60, doubles are 256 apart: every row is the same, and so is every answer.
    large = [np.rint(20.0 * x).astype(np.int64) + 2**60 for x in DATA]
    with pytest.warns((PrecisionWarning, ConstantColumnWarning, UntrainedWarning)) as told:
        found = fitted(new, large)
    assert any(w.category is PrecisionWarning and "2^53" in str(w.message) for w in told)
    assert np.isfinite(found).all()
    assert np.ptp(found) < 1e-6


@pytest.mark.parametrize("n_columns", [1, pytest.param(1000, marks=pytest.mark.slow)])
@FEW_ROWS
def test_one_and_a_thousand_columns(new, n_columns):
    rng = np.random.default_rng(1)
    unit = 10.0 ** rng.uniform(-12, 12, n_columns)
    found = fitted(new, [rng.normal(size=(n, n_columns)) * unit for n in (200, 150, 10)])
    assert np.isfinite(found).all()
    if n_columns == 1:  # of one distribution, and enough rows to see it
        assert np.abs(found).max() < 1.0
