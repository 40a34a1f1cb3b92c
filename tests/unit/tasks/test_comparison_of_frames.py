"""Data frames with text, categories, dates and gaps, compared as on the command line."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import secant
from secant.cli import app
from secant.tables.errors import TableError

ASKED = {"n_permutations": 99, "random_state": 3}


def _frame(seed, *, shift=0.0, n=120):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(40.0 + shift, 10.0, n).round(2),
            "city": pd.Categorical(rng.choice(["Bern", "Jena", "Pisa"], n)),
            "note": rng.choice(["new", "old"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
            "member": rng.random(n) < 0.5,
        },
        index=np.arange(n)[::-1],
    )


A, B = _frame(0), _frame(1, shift=9.0)


@pytest.fixture(scope="module")
def found():
    return secant.compare(A, B, **ASKED)


def test_all_kinds_of_columns_are_compared(found):
    assert found.feature_names[0] == "age"
    assert {"city=Jena", "note=new", "day (days)", "member=true"} < set(found.feature_names)
    assert found.features[0].name == "age"
    assert found.degree is not secant.tasks.Degree.SAME


def test_odd_rows_are_shown_as_they_stand_in_the_frame(found):
    assert found.unlike_1.columns == tuple(B.columns)
    number = found.unlike_1.numbers[0]
    assert found.unlike_1.cells[0][:3] == (
        f"{B['age'].iloc[number]:.6g}",
        B["city"].iloc[number],
        B["note"].iloc[number],
    )


def test_the_command_line_has_the_same_numbers(found, tmp_path):
    for name, frame in (("a.csv", A), ("b.csv", B)):
        frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d")).to_csv(tmp_path / name, index=False)
    tables = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    line = ["compare", *tables, "--permutations", "99", "--seed", "3", "--json"]
    answer = json.loads(CliRunner().invoke(app, line).stdout)["result"]
    assert answer["kl"]["estimate"] == found.kl.estimate
    assert answer["p_value"] == found.p_value
    assert answer["columns"] == list(found.feature_names)


def test_other_frames_and_another_order_of_columns(found):
    other = secant.compare(pl.from_pandas(A), pl.from_pandas(B)[:, ::-1], **ASKED)
    assert other.kl.estimate == found.kl.estimate


def test_numbers_without_gaps_are_as_an_array():
    x_0, x_1 = A[["age"]], B[["age"]]
    plain = secant.compare(x_0.to_numpy(), x_1.to_numpy(), **ASKED)
    named, plain = (
        secant.compare(x_0, x_1, **ASKED),
        secant.compare(x_0.values, x_1.values, **ASKED),
    )
    assert named.kl.estimate == plain.kl.estimate


def test_missing_values_are_refused_dropped_or_imputed():
    gaps = A.astype({"city": object})
    gaps.iloc[3, 0] = gaps.iloc[5, 1] = None
    with pytest.raises(TableError, match=r"missing in x_0: 'age' 1, 'city' 1 of 120 rows"):
        secant.compare(gaps, B, **ASKED)
    dropped = secant.compare(gaps, B, missing="drop", **ASKED)
    assert dropped.log_ratio_0.size == 118
    assert 3 not in dropped.unlike_0.numbers
    assert "missing='drop'" in dropped.call
    imputed = secant.compare(gaps, B, missing="impute", **ASKED)
    assert imputed.log_ratio_0.size == 120


def test_a_treatment_that_is_none():
    with pytest.raises(ValueError, match=r"`missing` must be one of \['refuse', 'drop', 'impute'"):
        secant.compare(A, B, missing="ignore")


def test_names_beside_names():
    with pytest.raises(ValueError, match="`feature_names` must be None for data frames with text"):
        secant.compare(A, B, feature_names=["a", "b", "c", "d", "e"])


def test_every_result_has_a_summary(found):
    assert found.summary() == str(found)
    x_0, x_1 = A[["age"]].to_numpy(), B[["age"]].to_numpy()
    ratio = secant.SklearnRatio(folds=None)
    weights = secant.importance_weights(x_0, x_1, estimator=ratio, random_state=0)
    results = {
        found.kl: "KL(p_1‖p_0) in nats: ",
        secant.two_sample_test(x_0, x_1, estimator=ratio, random_state=0): "two-sample test: ",
        weights: "120 importance weights",
        weights.mean(x_0[:, 0]): "95% interval [",
    }
    for result, text in results.items():
        assert text in result.summary()
    mutual = secant.MutualInformation(
        0.5, 0.1, 0.01, None, 0.0, "nats", 0.95, is_normalised=True, diagnostics=()
    )
    assert mutual.summary().startswith("0.5000 ± 0.1000 nats, 95% interval")
    matrix = np.array([[np.nan, 0.5], [0.5, np.nan]])
    pairs = secant.MutualInformationMatrix(("a", "b"), matrix, matrix / 5, matrix / 50, "nats")
    assert pairs.summary().splitlines()[1] == "a and b: 0.500 ± 0.100 (adjusted p 0.01)"
