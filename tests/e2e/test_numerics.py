"""The same numbers in another form or unit give the same ratio; trouble has a name."""

import numpy as np
import pytest

from secant import (
    CTSM,
    ISADRE,
    TRE,
    ChasmSwitch,
    ClassifierRatio,
    ConstantColumnWarning,
    DREInfinity,
    KernelRatio,
    OutlierWarning,
    PrecisionWarning,
    SecantRatio,
    SklearnRatio,
    Training,
)
from secant.models import (
    AlignedSecant,
    ResidualMLP,
    SpectralSecant,
    TangentNetwork,
    TelescopingHeads,
)

TRUNK = ResidualMLP(8, 1)
BRIEF = Training(steps=20, batch_size=64, warmup=5, evaluate_every=10)
QUICK = {
    "ClassifierRatio": lambda: ClassifierRatio(trunk=TRUNK, training=BRIEF, random_state=0),
    "KernelRatio": lambda: KernelRatio(n_centers=30, random_state=0),
    "SklearnRatio": lambda: SklearnRatio(random_state=0),
}
LONGER = {
    # With 0, a row far out is held out: of thirty that is enough to warn of little overlap.
    "SecantRatio": lambda: SecantRatio(SpectralSecant(3, TRUNK), training=BRIEF, random_state=1),
    "ISADRE": lambda: ISADRE(AlignedSecant(TRUNK), training=BRIEF, random_state=0),
    "CTSM": lambda: CTSM(TangentNetwork(TRUNK, vectorised=True), training=BRIEF, random_state=0),
    "DREInfinity": lambda: DREInfinity(TangentNetwork(TRUNK), training=BRIEF, random_state=0),
    "TRE": lambda: TRE(TelescopingHeads(2, TRUNK), training=BRIEF, random_state=0),
    "ChasmSwitch": lambda: ChasmSwitch(
        ClassifierRatio(trunk=TRUNK, training=BRIEF), KernelRatio(), random_state=0
    ),
}
RNG = np.random.default_rng(0)
X_0, X_1 = RNG.normal(size=(300, 3)), RNG.normal([0.5, 0.0, 0.0], size=(300, 3))
ROWS = np.concatenate([X_0[:20], X_1[:20]])
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


@pytest.fixture(
    scope="module",
    params=[*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONGER)],
)
def new(request):
    return (QUICK | LONGER)[request.param]


@pytest.fixture(scope="module")
def plain(new):
    return fitted(new, DATA)


def fitted(new, data):
    x_0, x_1, rows = data
    return new().fit_samples(x_0, x_1).log_ratio(rows)


def assert_alike(found, plain):
    """Of one truth, a ratio of standard deviation 0.5, but of other rows or initial weights."""
    assert np.sqrt(np.mean((found - plain) ** 2)) < 0.55
    if min(found.std(), plain.std()) > 0.0:  # 20 steps may be too few for any to be kept
        assert np.corrcoef(found, plain)[0, 1] > 0.6


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
    # A product may round, by 1e-16; 20 steps in single precision make little of it.
    found = fitted(new, [x * UNITS[unit] for x in DATA])
    np.testing.assert_allclose(found, plain, atol=1e-4)


@pytest.mark.parametrize(("shift", "atol"), [(1e8, 1e-4), (1e12, 0.02)])
def test_a_far_origin_costs_no_more_than_its_digits(new, plain, shift, atol):
    # 1e8 + x holds x to 1.5e-8, 1e12 + x to 1.2e-4.
    np.testing.assert_allclose(fitted(new, [x + shift for x in DATA]), plain, atol=atol)


@pytest.mark.parametrize("value", [7.0, 0.1, 1e300])
def test_a_constant_column_is_told_and_finite(new, value):
    data = [np.c_[x, np.full(len(x), value)] for x in DATA]
    with pytest.warns(ConstantColumnWarning, match=r"1 of 4 columns .* column 3"):
        found = fitted(new, data)
    assert np.isfinite(found).all()


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
def test_a_huge_row_that_is_asked_for_has_a_finite_ratio(new, value):
    estimator = new().fit_samples(X_0, X_1)
    assert np.isfinite(estimator.log_ratio(np.full((2, 3), value))).all()


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-9])
def test_a_repeated_column_adds_nothing(new, plain, factor):
    found = fitted(new, [np.c_[x, factor * x] for x in DATA])
    assert np.isfinite(found).all()
    assert_alike(found, plain)


@pytest.mark.filterwarnings("ignore::secant.OverlapWarning", "ignore::secant.ClippedRatioWarning")
@pytest.mark.parametrize("n", [2, 20])
def test_few_and_repeated_rows_are_finite(new, n):
    assert np.isfinite(fitted(new, (X_0[:n], X_1[:n], ROWS))).all()
    copies = np.repeat(X_0[:n], 15, axis=0), np.repeat(X_1[:n], 15, axis=0), ROWS
    assert np.isfinite(fitted(new, copies)).all()


def test_whole_numbers_beyond_double_precision_are_told(new):
    large = [np.rint(20.0 * x).astype(np.int64) + 2**60 for x in DATA]
    with pytest.warns((PrecisionWarning, ConstantColumnWarning)) as told:
        found = fitted(new, large)
    assert any(w.category is PrecisionWarning and "2^53" in str(w.message) for w in told)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("n_columns", [1, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::secant.OverlapWarning", "ignore::secant.ClippedRatioWarning")
def test_one_and_a_thousand_columns(new, n_columns):
    rng = np.random.default_rng(1)
    data = [
        rng.normal(size=(n, n_columns)) * 10.0 ** rng.uniform(-12, 12, n_columns)
        for n in (200, 150, 10)
    ]
    assert np.isfinite(fitted(new, data)).all()
