"""Random input gives a finite answer, perhaps with a named warning, or an error that names it."""

import collections
import os
import re
import tempfile
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from secant import ClassifierRatio, KernelRatio, SecantRatio, SklearnRatio, Training, exceptions
from secant.estimators import GaussianMoments
from secant.models import ResidualMLP, SpectralSecant

# Of a column of labels scikit-learn warns itself; its contract asks for that, and for NAMES_DIFFER.
NAMED_WARNINGS = (
    *(getattr(exceptions, name) for name in exceptions.__all__),
    DataConversionWarning,
)
NAMES_DIFFER = "feature names"
NAMED = re.compile(r"`(x_0|x_1|X|y|weight_0|weight_1|sample_weight)`")
BRIEF = Training(steps=2, batch_size=16, warmup=1, evaluate_every=2, validation_rows=8)
TRUNK = ResidualMLP(4, 0)
MAKERS = {
    "kernel": lambda: KernelRatio(n_centers=10, random_state=0),
    "sklearn": lambda: SklearnRatio(folds=2, random_state=0),
    "classifier": lambda: ClassifierRatio(trunk=TRUNK, training=BRIEF, random_state=0),
    "secant": lambda: SecantRatio(
        SpectralSecant(2, TRUNK), anchor=GaussianMoments(), training=BRIEF, random_state=0
    ),
}
# Cheap estimators more often; a program is compiled for each shape, so there are few shapes.
ESTIMATORS = st.sampled_from(["kernel"] * 12 + ["sklearn"] * 8 + ["classifier"] * 3 + ["secant"])
N_ROWS, N_COLUMNS = 24, 2


def numbers(draw, n, d):
    """Rows (n, d) of float64: of any scale, equal, with outliers, or not finite."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    x = rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 0.0, 0.5, 1e3, 1e9]))
    x = x * 10.0 ** draw(st.sampled_from([0, 0, 0, -12, 12, -100, 100, -298, 298, -320]))
    change = draw(
        st.sampled_from(
            ["none"] * 8
            + ["constant", "zero", "one column", "copies", "whole", "spike", "spikes"]
            + ["NaN", "infinity", "largest", "tiniest", "two values"]
        )
    )
    i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, d - 1))
    match change:
        case "constant":
            x[:] = x[0]
        case "zero":
            x[:] = 0.0
        case "one column":
            x[:, j] = 0.1
        case "copies":
            x[:] = x[np.arange(n) % 2]
        case "whole":
            x = np.rint(x)
        case "spike":
            x[i, j] = 10.0 ** draw(st.integers(3, 308))
        case "spikes":
            x[::5, j] = -(10.0 ** draw(st.integers(3, 308)))
        case "NaN":
            x[i, j] = np.nan
        case "infinity":
            x[i, j] = draw(st.sampled_from([np.inf, -np.inf]))
        case "largest":
            x[i, j] = np.finfo(np.float64).max * draw(st.sampled_from([1.0, -1.0]))
        case "tiniest":
            x[i] = 5e-324
        case "two values":
            x = np.where(x > np.median(x), 1.0, 0.0)
    return x


def mapped(x):
    """The rows in a file."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(np.ascontiguousarray(x).tobytes())
    found = np.memmap(file.name, dtype=x.dtype, mode="r", shape=x.shape)
    os.unlink(file.name)
    return found


def quietly(kind):
    def cast(x):
        with np.errstate(all="ignore"):
            return x.astype(kind)

    return cast


GOOD_FORMS = {
    "float64": lambda x: x,
    "float32": quietly(np.float32),
    "float16": quietly(np.float16),
    "long double": lambda x: x.astype(np.longdouble),
    "longer double": lambda x: x.astype(np.longdouble) * np.longdouble(10.0) ** 300,
    "int64": quietly(np.int64),
    "int8": quietly(np.int8),
    "uint64": quietly(np.uint64),
    "bool": lambda x: x > 0.0,
    "object": lambda x: x.astype(object),
    "list": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x.tolist())),
    "list of arrays": list,
    "Fortran": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "other byte order": lambda x: x.astype(">f8"),
    "memory map": mapped,
    "memory map of ints": lambda x: mapped(quietly(np.int64)(x)),
    "Arrow": lambda x: pa.table({f"c{i}": column for i, column in enumerate(x.T)}),
    "unmasked": np.ma.array,
}
BAD_FORMS = {
    "masked": lambda x: np.ma.array(x, mask=x == x[0]),
    "complex": lambda x: x + 0j,
    "text": lambda x: x.astype(str),
    "bytes": lambda x: x.astype(bytes),
    "object with text": lambda x: np.where(x == x[0], "a", x.astype(object)),
    "object with None": lambda x: np.where(x == x[0], None, x.astype(object)),
    "object with huge ints": lambda x: np.full(x.shape, 10**400, dtype=object),
    "object with lists": lambda x: [[[1.0], 2.0]] * len(x),
    "dates": lambda x: np.zeros(x.shape, dtype="datetime64[s]"),
    "spans": lambda x: np.zeros(x.shape, dtype="timedelta64[s]"),
    "structured": lambda x: np.zeros(len(x), dtype=[("a", float), ("b", int)]),
    "structured matrix": lambda x: np.zeros(x.shape, dtype=[("a", float)]),
    "void": lambda x: np.zeros(x.shape, dtype="V8"),
    "Arrow with text": lambda x: pa.table({"a": ["u"] * len(x), "b": x[:, 0]}),
    "Arrow with nulls": lambda x: pa.table({"a": [None, *x[1:, 0]], "b": x[:, 0]}),
    "sparse": sparse.csr_array,
    "sparse matrix": sparse.csc_matrix,
    "ragged": lambda x: [row[: 1 + i % 2] for i, row in enumerate(x.tolist())],
    "number": lambda x: float(x[0, 0]),
    "0-d": lambda x: np.array(x[0, 0]),
    "1-d": lambda x: x[:, 0],
    "3-d": lambda x: x[None],
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, :0],
    "nothing": lambda x: np.empty((0, 0)),
    "empty list": lambda x: [],
    "one row": lambda x: x[:1],
    "wide": lambda x: np.repeat(x, 3, axis=1),
    "memory map 1-d": lambda x: mapped(x[:, 0]),
    "memory map of dates": lambda x: mapped(np.zeros(x.shape, dtype="datetime64[s]")),
    "None": lambda x: None,
    "a text": lambda x: "rows",
    "a dictionary": lambda x: {"a": x[:, 0]},
    "a set": lambda x: set(x[:, 0]),
    "a generator": lambda x: (row for row in x),
    "a function": lambda x: len,
}
FORMS = GOOD_FORMS | BAD_FORMS


@st.composite
def rows(draw, n=N_ROWS):
    x = numbers(draw, n, N_COLUMNS)
    names = [*GOOD_FORMS] * 4 + [*BAD_FORMS]
    return FORMS[draw(st.sampled_from(names))](x)


WEIGHTS = {
    "equal": lambda w: np.ones_like(w),
    "drawn": lambda w: w,
    "ints": lambda w: np.rint(5.0 * w).astype(int),
    "a number": lambda w: 2.0,
    "large": lambda w: 1e300 * w,
    "largest": lambda w: np.full_like(w, 1.7e308) * np.sign(w),
    "tiny": lambda w: 1e-320 * w,
    "one row": lambda w: np.eye(w.size)[0],
    "list": lambda w: w.tolist(),
    "zero": lambda w: 0.0 * w,
    "negative": lambda w: -w,
    "NaN": lambda w: np.append(w[1:], np.nan),
    "infinite": lambda w: np.append(w[1:], np.inf),
    "short": lambda w: w[:-1],
    "column": lambda w: w[:, None],
    "text": lambda w: w.astype(str),
    "words": lambda w: ["a"] * w.size,
    "complex": lambda w: w + 1j,
    "objects": lambda w: [None] * w.size,
    "ragged": lambda w: [[1.0], [1.0, 2.0]],
    "a word": lambda w: "balanced",
    "dates": lambda w: np.zeros(w.size, dtype="datetime64[s]"),
    "masked": lambda w: np.ma.array(w, mask=w > 0.5),
}


@st.composite
def weights(draw, n=N_ROWS):
    if draw(st.integers(0, 2)):
        return None
    w = np.random.default_rng(draw(st.integers(0, 99))).uniform(size=n)
    return WEIGHTS[draw(st.sampled_from([*WEIGHTS]))](w)


LABELS = {
    "bool": lambda y: y == 1,
    "float": lambda y: y.astype(float),
    "list": lambda y: y.tolist(),
    "column": lambda y: y[:, None],
    "text": lambda y: y.astype(str),
    "one only": lambda y: 0 * y,
    "three": lambda y: np.arange(y.size) % 3,
    "NaN": lambda y: np.where(y, 1.0, np.nan),
    "short": lambda y: y[1:],
    "None": lambda y: None,
    "ragged": lambda y: [[0], [1, 1]],
    "objects": lambda y: y.astype(object),
    "complex": lambda y: y + 0j,
    "sparse": lambda y: sparse.csr_array(y[None]),
}


@st.composite
def labels(draw, n=2 * N_ROWS):
    y = np.arange(n) % 2
    return LABELS[draw(st.sampled_from([*LABELS]))](y) if draw(st.integers(0, 2)) == 0 else y


@st.composite
def cases(draw):
    """An estimator's name, its training rows, and rows to score."""
    name = draw(ESTIMATORS)
    if draw(st.booleans()):
        data = {"x_0": draw(rows()), "x_1": draw(rows())}
        data |= {"weight_0": draw(weights()), "weight_1": draw(weights())}
        fit = ("fit_samples", data)
    else:
        data = {"X": draw(rows(2 * N_ROWS)), "y": draw(labels())}
        fit = ("fit", data | {"sample_weight": draw(weights(2 * N_ROWS))})
    return name, fit, draw(rows())


def outcome(case):
    """The outcome in one word; other exceptions propagate."""
    name, (method, data), asked = case
    estimator = MAKERS[name]()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            getattr(estimator, method)(**data)
            word = answered(estimator, asked)
        except (TypeError, ValueError) as error:
            word = refused(error)
    for warning in told:
        is_named = issubclass(warning.category, NAMED_WARNINGS)
        assert is_named or NAMES_DIFFER in str(warning.message), f"not ours: {warning.message!r}"
    return word + (" with a warning" if told and word != "refused" else "")


def refused(error):
    assert NAMED.search(str(error)), f"names no argument: {error}"
    return "refused"


def answered(estimator, asked):
    try:
        found = estimator.log_ratio(asked)
    except (TypeError, ValueError) as error:
        return f"fitted, question {refused(error)}"
    assert found.ndim == 1
    assert np.isfinite(found).all(), f"not finite: {found}"
    return "finite"


def run(n_cases):
    counts = collections.Counter()

    @settings(
        max_examples=n_cases,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def check(case):
        counts[outcome(case)] += 1

    check()
    for word, count in sorted(counts.items()):
        print(f"{count:6d}  {word}")
    return counts


def test_fifty_cases():
    counts = run(50)
    assert counts["refused"] > 0
    assert sum(n for word, n in counts.items() if word.startswith("finite")) > 0


@pytest.mark.slow
def test_two_thousand_cases():
    counts = run(2000)
    assert sum(counts.values()) >= 2000
    assert min(counts[w] for w in ("finite", "finite with a warning", "refused")) > 100
