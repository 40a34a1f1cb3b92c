"""Columns as numbers, by hand-made oracles."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from secant.tables.encoding import Encoding, Missing
from secant.tables.files import TableError

NAN, INF = float("nan"), float("inf")


def encoded(column, **options):
    table = pa.table({"c": column})
    return Encoding.fitted([table], **options).encode(table).rows


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, -2], pa.int8()), [1.0, -2.0]),
        (pa.array([2**63], pa.uint64()), [2.0**63]),
        (pa.array([1.5], pa.float16()), [1.5]),
        (pa.array([0.1]), [0.1]),
        (pa.array([Decimal("12.25")]), [12.25]),
        (pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 31)]), [1.0, -1.0]),
        (pa.array([dt.date(2000, 1, 1)], pa.date64()), [10957.0]),
        (pa.array([dt.datetime(1970, 1, 1, 12)], pa.timestamp("s")), [0.5]),
        (pa.array([dt.datetime(1970, 1, 3, 6)], pa.timestamp("ns")), [2.25]),
        # Half past one in Berlin, an hour ahead, is half past midnight of UTC.
        (
            pa.array([dt.datetime(1970, 1, 1, 0, 30)], pa.timestamp("ms", "Europe/Berlin")),
            [0.5 / 24],
        ),
        (pa.array([dt.time(6)], pa.time32("s")), [0.25]),
        (pa.array([dt.time(18)], pa.time64("ns")), [0.75]),
        (pa.array([dt.timedelta(hours=36)]), [1.5]),
        (pa.array([dt.date(1970, 1, 2)]).dictionary_encode(), [1.0]),
    ],
)
def test_quantities(column, expected):
    np.testing.assert_array_equal(encoded(column)[:, 0], expected)


@pytest.mark.parametrize(
    ("column", "categories", "numbers"),
    [
        (pa.array(["red", "blue", "red"]), ["blue", "red"], [1, 0, 1]),
        (pa.array(["b", "a"], pa.large_string()), ["a", "b"], [1, 0]),
        (pa.array(["b", "a"], pa.string_view()), ["a", "b"], [1, 0]),
        (pa.array(["b", "a"]).dictionary_encode(), ["a", "b"], [1, 0]),
        (pa.array([7, 5]).dictionary_encode(), ["5", "7"], [1, 0]),
        (pa.array([True, False]), ["false", "true"], [1, 0]),
        (pa.array([True, True]), ["false", "true"], [1, 1]),
    ],
)
def test_names_are_one_hot_below_the_noise(column, categories, numbers):
    table = pa.table({"c": column})
    encoding = Encoding.fitted([table])
    assert encoding.names == tuple(f"c={category}" for category in categories)
    rows = encoding.encode(table).rows
    np.testing.assert_array_equal(np.floor(rows), np.eye(len(categories))[numbers])


def test_the_noise_is_uniform_and_independent():
    n = 4000
    table = pa.table({"x": np.zeros(n), "c": ["a", "b"] * (n // 2), "d": [True] * n})
    encoding = Encoding.fitted([table])
    rows, others = (encoding.encode(table, seed=seed).rows for seed in (0, 1))
    assert encoding.names == ("x", "c=a", "c=b", "d=false", "d=true")
    np.testing.assert_array_equal(rows[:, 0], 0.0)
    noise = np.concatenate([rows[:, 1:] % 1.0, others[:, 1:] % 1.0], axis=1)
    assert all(kstest(column, "uniform").pvalue > 1e-4 for column in noise.T)
    correlations = np.corrcoef(noise.T) - np.eye(8)
    assert np.abs(correlations).max() < 4.5 / np.sqrt(n)
    assert np.abs(np.corrcoef(noise[1:].T, noise[:-1].T)[:8, 8:]).max() < 4.5 / np.sqrt(n)


TEXTS = st.one_of(st.none(), st.sampled_from(["a", "b", "ü"]))
NUMBERS = st.one_of(st.none(), st.just(NAN), st.integers(-9, 9).map(float))


@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(st.tuples(NUMBERS, TEXTS, TEXTS), min_size=1, max_size=12),
    width=st.integers(1, 5),
    missing=st.sampled_from([Missing.DROP, Missing.IMPUTE]),
)
def test_pieces_and_json_give_the_same_numbers(cells, width, missing):
    cells = [(0.0, "a", "b"), *cells]  # so that no column is without values
    x, s, t = (list(column) for column in zip(*cells, strict=True))
    table = pa.table({"x": pa.array(x, pa.float64()), "s": s, "t": t})
    encoding = Encoding.fitted([table], missing)
    whole = encoding.encode(table, seed=3)
    again = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert again == encoding
    pieces = [
        again.encode(table.slice(start, width), seed=3, first_row=start)
        for start in range(0, len(cells), width)
    ]
    np.testing.assert_array_equal(np.concatenate([piece.rows for piece in pieces]), whole.rows)
    kept = [piece.kept + width * i for i, piece in enumerate(pieces)]
    np.testing.assert_array_equal(np.concatenate(kept), whole.kept)
    assert np.isfinite(whole.rows).all()
    complete = [i for i, row in enumerate(cells) if None not in row and row[0] == row[0]]
    assert whole.kept.tolist() == (complete if missing is Missing.DROP else [*range(len(cells))])


def test_two_tables_are_encoded_alike():
    a = pa.table({"x": [1.0, 2.0], "c": ["red", "green"]})
    b = pa.table({"extra": [0], "c": ["blue"], "x": [3]}).drop(["extra"])
    encoding = Encoding.fitted([a, b])
    assert encoding.inputs == ("x", "c")
    assert encoding.text == ("c",)
    assert encoding.names == ("x", "c=blue", "c=green", "c=red")
    np.testing.assert_array_equal(np.floor(encoding.encode(b).rows), [[3, 1, 0, 0]])
    more = b.append_column("note", [["ignored"]])
    np.testing.assert_array_equal(encoding.encode(more).rows, encoding.encode(b).rows)


def test_missing_values_are_filled_in_from_both_tables():
    a = pa.table({"x": [1.0, None, 5.0], "c": ["u", None, "v"], "f": [True, None, True]})
    b = pa.table({"x": [NAN, 2.0, 9.0, 7.0], "c": list("uuuv"), "f": [False] * 4})
    encoding = Encoding.fitted([a, b], Missing.IMPUTE)
    expected = ("x", "c=u", "c=v", "c=(missing)", "f=false", "f=true", "f=(missing)")
    assert encoding.names == expected
    rows = np.floor(encoding.encode(a).rows)
    np.testing.assert_array_equal(rows[1], [5, 0, 0, 1, 0, 0, 1])  # the median of 1 2 5 7 9
    assert np.floor(encoding.encode(b).rows)[0, 0] == 5
    nothing = pa.table({"x": pa.nulls(1), "c": pa.nulls(1), "f": pa.nulls(1)})
    np.testing.assert_array_equal(np.floor(encoding.encode(nothing).rows)[0], rows[1])


def test_missing_values_are_counted_and_refused():
    a = pa.table({"x": [1.0, None, NAN], "c": ["u", None, "v"], "y": [1, 2, 3]})
    message = r"missing in the table: 'x' 2, 'c' 1 of 3 rows.*missing='drop'.*--missing impute"
    with pytest.raises(TableError, match=message):
        Encoding.fitted([a])
    whole = a.slice(0, 1)
    with pytest.raises(TableError, match=r"missing in b.csv: 'x' 2, 'c' 1 of 3 rows"):
        Encoding.fitted([whole, a], labels=["a.csv", "b.csv"])
    with pytest.raises(TableError, match=r"missing in the table: 'x' 2"):
        Encoding.fitted([whole]).encode(a)
    with pytest.raises(TableError, match="No row of the table is complete: 'x' 1, 'y' 1 of 2 rows"):
        Encoding.fitted([pa.table({"x": [1, None], "y": [None, 1]})], Missing.DROP)


@pytest.mark.parametrize("missing", Missing)
def test_infinite_values_are_counted_and_refused(missing):
    table = pa.table({"x": [1.0, INF, -INF], "y": [1.0, 2.0, INF]})
    with pytest.raises(TableError, match="infinite in the table: 'x' 2, 'y' 1 of 3 rows"):
        Encoding.fitted([table], missing)
    with pytest.raises(TableError, match="infinite in the table: 'x' 2, 'y' 1 of 3 rows"):
        Encoding.fitted([table.slice(0, 1)], missing).encode(table)


def test_columns_that_differ_are_named():
    a = pa.table({"age": [1], "colour": ["x"], "id": [1]})
    b = pa.table({"Age": [1], "colour": ["x"], "id": [1], "new": [2]})
    with pytest.raises(TableError, match="The columns differ") as caught:
        Encoding.fitted([a, b])
    assert "the first table lacks 'Age', 'new' of the second table; did you mean 'age'?" in str(
        caught.value
    )
    assert "the second table lacks 'age' of the first table; did you mean 'Age'?" in str(
        caught.value
    )
    c = pa.table({"age": ["old"], "colour": ["x"], "id": [1.5]})
    message = r"differ in 1 column: 'age' \(number in a.csv, text in b.csv\)"
    with pytest.raises(TableError, match=message):
        Encoding.fitted([a, c], labels=["a.csv", "b.csv"])


def test_a_clock_without_a_place_is_not_one_with_it():
    moment = dt.datetime(2020, 1, 1)
    here = pa.table({"t": pa.array([moment], pa.timestamp("us"))})
    there = pa.table({"t": pa.array([moment], pa.timestamp("us", "UTC"))})
    with pytest.raises(TableError, match=r"'t' \(date in the first table, instant in the second"):
        Encoding.fitted([here, there])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[1], [2]]), "holds several values per row .*'!c' among the columns"),
        (pa.array([{"a": 1}, {"a": 2}]), "holds several values per row"),
        (pa.array([b"x", b"y"]), "holds values of type binary"),
        (pa.nulls(2), "Columns without any value in the table: 'c'"),
        (pa.array([None, None], pa.float64()), "Columns without any value in the table: 'c'"),
        (pa.array([NAN, NAN]), "Columns without any value in the table: 'c'"),
        (pa.array([f"k{i}" for i in range(21)]), "21 different texts in 21 rows .*'!c' among"),
        (pa.array([f"k{i % 101}" for i in range(909)]), "101 different texts in 909 rows"),
    ],
)
@pytest.mark.parametrize("missing", Missing)
def test_columns_that_cannot_be_used(column, message, missing):
    with pytest.raises(TableError, match=message):
        encoded(column, missing=missing)


def test_many_categories_are_fine_where_rows_share_them():
    assert encoded(pa.array([f"k{i}" for i in range(20)])).shape == (20, 20)
    assert encoded(pa.array([f"k{i % 100}" for i in range(200)])).shape == (200, 100)


def test_a_table_needs_rows_and_columns():
    for table in (pa.table({"x": pa.array([], pa.float64())}), pa.table({})):
        with pytest.raises(TableError, match="must be rows and columns in the table"):
            Encoding.fitted([table])
    with pytest.raises(ValueError, match="at least one table"):
        Encoding.fitted([])
    twice = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(TableError, match="Several columns are named 'a'"):
        Encoding.fitted([twice])


def test_what_the_fit_did_not_have_is_refused():
    encoding = Encoding.fitted([pa.table({"c": ["u", "v"], "x": [1, 2]})])
    unknown = pa.table({"c": ["w", "u", "w"], "x": [1, 2, 3]})
    with pytest.raises(TableError, match="not there in the fit, in 2 rows: 'w'"):
        encoding.encode(unknown)
    with pytest.raises(TableError, match="'c' holds number values; in the fit it held text values"):
        encoding.encode(pa.table({"c": [1], "x": [1]}))
    with pytest.raises(TableError, match=r"no column 'x', which the fit had; did you mean 'X'\?"):
        encoding.encode(pa.table({"c": ["u"], "X": [1]}))


def test_no_rows_are_no_rows():
    encoding = Encoding.fitted([pa.table({"c": ["u"], "x": [1.0]})], Missing.DROP)
    found = encoding.encode(pa.table({"c": ["u"], "x": [NAN]}))
    assert found.rows.shape == (0, 2)
    assert found.kept.size == 0


GOOD = {"name": "x", "kind": "number", "fill": None}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"missing": "refuse"},
        {"missing": "never", "columns": [GOOD]},
        {"missing": "refuse", "columns": []},
        {"missing": "refuse", "columns": 3},
        {"missing": "refuse", "columns": ["x"]},
        {"missing": "refuse", "columns": [GOOD, GOOD]},
        {"missing": "impute", "columns": [GOOD]},
        {"missing": "impute", "columns": [{**GOOD, "fill": NAN}]},
        {"missing": "refuse", "columns": [{**GOOD, "fill": "1"}]},
        {"missing": "refuse", "columns": [{**GOOD, "name": 3}]},
        {"missing": "refuse", "columns": [{**GOOD, "kind": "empty"}]},
        {"missing": "refuse", "columns": [{**GOOD, "kind": "number of things"}]},
        {"missing": "refuse", "columns": [{"name": "c", "kind": "text", "categories": ["a", "a"]}]},
        {"missing": "refuse", "columns": [{"name": "c", "kind": "text", "categories": [[1]]}]},
        {"missing": "refuse", "columns": [{"name": "c", "kind": "text", "categories": []}]},
    ],
)
def test_made_up_encodings_are_refused(fields):
    assert Encoding.from_json({"missing": "refuse", "columns": [GOOD]}).inputs == ("x",)
    with pytest.raises(TableError, match="Not an encoding of tables"):
        Encoding.from_json(fields)
