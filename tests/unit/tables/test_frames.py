"""A pandas frame, a polars frame and an Arrow table of the same values give the same answers."""

import datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import secant
from secant.tables.encoding import Encoding, Missing
from secant.tables.frames import arrow_table, frame_of, rows_of

KINDS = {
    "pandas": lambda columns: pd.DataFrame(columns, index=[f"row {i}" for i in range(N)][::-1]),
    "pandas by Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
}
N = 120


def columns(seed, shift=0.0):
    """Columns of several types, none of which holds all others."""
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 70, N),
        "income": rng.normal(shift, 1.0, N),
        "score": rng.normal(0.5 * shift, 1.0, N).astype(np.float32),
        "member": rng.random(N) < 0.3 + 0.2 * shift,
    }


def ratio():
    return secant.SklearnRatio(LogisticRegression(), folds=None, random_state=0)


@pytest.fixture(params=KINDS)
def made(request):
    return KINDS[request.param]


@pytest.fixture
def frames(made):
    return made(columns(0)), made(columns(1, 0.8))


@pytest.fixture
def arrays():
    """The same as arrays of float64."""
    return tuple(np.column_stack(list(columns(s, t).values())) for s, t in ((0, 0.0), (1, 0.8)))


def test_rows_are_those_of_the_columns(frames, arrays):
    for frame, array in zip(frames, arrays, strict=True):
        found = rows_of(frame_of(frame))
        assert found.dtype == array.dtype == np.float64
        assert np.array_equal(found, array)


def test_estimators(frames, arrays):
    fitted, expected = ratio().fit_samples(*frames), ratio().fit_samples(*arrays)
    assert list(fitted.feature_names_in_) == list(columns(0))
    scores = fitted.log_ratio(frames[1])
    assert np.array_equal(scores, expected.log_ratio(arrays[1]))


def test_estimators_with_labels(made):
    frame, array = made(columns(0)), np.column_stack(list(columns(0).values()))
    y = np.arange(N) % 2
    found, expected = ratio().fit(frame, y), ratio().fit(array, y)
    assert np.array_equal(found.log_ratio(frame), expected.log_ratio(array))


def test_weights(frames, arrays):
    found, expected = (
        secant.importance_weights(*samples, estimator=ratio(), n_folds=2, random_state=0)
        for samples in (frames, arrays)
    )
    assert np.array_equal(found.weights, expected.weights)


def test_mutual_information(made):
    names = list(columns(0))
    x, y = ({n: columns(0)[n] for n in part} for part in (names[:2], names[2:]))
    options = {"correct": False, "second_opinion": False, "n_permutations": 9, "n_folds": 2}
    blocks = (
        (made(x), made(y)),
        tuple(np.column_stack(list(part.values())) for part in (x, y)),
    )
    found, expected = (
        secant.mutual_information(*pair, estimator=ratio(), random_state=0, **options)
        for pair in blocks
    )
    assert found.estimate == expected.estimate
    assert found.diagnostics == ()  # these fits hold no rows out
    assert np.array_equal(found.pointwise, expected.pointwise)


def test_covariate_shift(frames, arrays):
    y = np.arange(float(N))
    found, expected = (
        secant.CovariateShift(LinearRegression(), ratio(), n_folds=2, random_state=0).fit(a, y, b)
        for a, b in (frames, arrays)
    )
    # The inner estimator reads the frame itself, and sums in another order.
    assert np.array_equal(found.weights_.weights, expected.weights_.weights)
    np.testing.assert_allclose(found.predict(frames[1]), expected.predict(arrays[1]), rtol=1e-9)


def test_a_model_takes_another_kind_but_no_other_columns(frames):
    fitted = ratio().fit_samples(*frames)
    expected = fitted.log_ratio(frames[0])
    assert np.array_equal(fitted.log_ratio(pa.table(columns(0))), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.log_ratio(pl.DataFrame(columns(0)).select(*reversed(columns(0))))


def test_two_frames_need_the_same_columns(frames):
    other = pa.table(columns(1)).rename_columns(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="the same columns in the same order"):
        ratio().fit_samples(frames[0], other)


def test_text_is_refused_by_name(made):
    given = {**columns(0), "city": ["Oslo", "Rome"] * (N // 2)}
    with pytest.raises(ValueError, match=r"(?s)`x_0`.*secant\.tables\.encoding.*'city'"):
        ratio().fit_samples(made(given), made(given))


def test_missing_numbers_are_refused(made):
    given = {**columns(0), "gap": [None, 2] * (N // 2)}
    with pytest.raises(ValueError, match=r"`x_0`.*NaN"):
        ratio().fit_samples(made(given), made(given))


def mixed(seed):
    rng = np.random.default_rng(seed)
    start = datetime.datetime(2026, 3, 1)
    seconds = rng.integers(0, 10**7, N)
    return {
        "age": [None if i % 7 == 0 else float(v) for i, v in enumerate(rng.normal(size=N))],
        "city": rng.choice(["Oslo", "Rome", "Kyiv"], N).tolist(),
        "paid": [bool(v) for v in rng.random(N) < 0.5],
        "when": [start + datetime.timedelta(seconds=int(s), microseconds=7) for s in seconds],
    }


def with_categories(frame):
    """The same with the column of text as categories, as each library has them."""
    if isinstance(frame, pd.DataFrame):
        return frame.astype({"city": "category"})
    if isinstance(frame, pa.Table):
        return frame.set_column(1, "city", frame["city"].dictionary_encode())
    return frame.with_columns(pl.col("city").cast(pl.Categorical))


def test_encodings(made):
    frames, tables = ([form(mixed(s)) for s in (0, 1)] for form in (made, pa.table))
    expected = Encoding.fitted(tables, Missing.IMPUTE)
    for given in (frames, [with_categories(frame) for frame in frames]):
        found = Encoding.fitted(given, Missing.IMPUTE)
        assert found == expected
        encoded = found.encode(given[0], seed=3)
        assert np.array_equal(encoded.rows, expected.encode(tables[0], seed=3).rows)


def test_nanoseconds_are_the_same_days():
    moments = pa.array(mixed(0)["when"], pa.timestamp("us"))
    coarse, fine = (pa.table({"when": moments.cast(pa.timestamp(u))}) for u in ("us", "ns"))
    encoding = Encoding.fitted([coarse])
    assert np.array_equal(encoding.encode(coarse).rows, encoding.encode(fine).rows)


def test_row_labels_are_no_column():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"])
    assert arrow_table(frame).column_names == ["a"]


def test_what_is_no_frame_is_none():
    for value in (np.ones((2, 2)), [[1.0]], pd.Series([1.0]), pl.Series([1.0]), "text", None):
        assert frame_of(value) is None
    with pytest.raises(TypeError, match="data frame or an Arrow table; got list"):
        arrow_table([[1.0]])


def test_objects_that_are_numbers_are_numbers():
    frame = pd.DataFrame({"a": np.array([1, 2.5], dtype=object)})
    assert nw.from_native(frame).schema["a"] == nw.Object
    assert rows_of(frame_of(frame)).tolist() == [[1.0], [2.5]]
