"""Checks against limits: values are those of the comparison, columns, and what is refused."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import ks_2samp

import secant
from secant.limits import LimitError
from secant.report import junit

LINEAR = secant.SklearnRatio(folds=None)


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    return tuple(
        pd.DataFrame(
            {
                "age": rng.normal(shift, 1.0, n),
                "income": rng.normal(size=n),
                "colour": rng.choice(["red", "blue", "green"], n, p=shares),
            }
        )
        for n, shift, shares in ((500, 0.0, (0.6, 0.2, 0.2)), (400, 1.0, (0.2, 0.6, 0.2)))
    )


def test_values_are_those_of_the_comparison(frames):
    a, b = (f[["age", "income"]] for f in frames)
    limits = {
        "p_value": ">= 0.01",
        "overlap": ">= 0.2",
        "kl": "<= 0.1",
        "jensen_shannon": "<= 0.5",
        "effective_sample_size": ">= 10",
        "rows": ">= 400",
        "columns": {"age": {"contribution": "<= 0.1"}},
    }
    found = secant.check(a, b, limits=limits, estimator=LINEAR, random_state=3)
    same = secant.compare(a, b, estimator=LINEAR, random_state=3)
    assert [row.value for row in found.rows] == [
        same.p_value,
        same.overlap,
        same.kl.estimate,
        same.jensen_shannon.estimate,
        same.effective_sample_size_0,
        400.0,
        next(c.contribution for c in same.features if c.name == "age"),
    ]
    assert [row.interval for row in found.rows[:3]] == [
        None,
        same.overlap_interval,
        same.kl.interval,
    ]
    assert [row.name for row in found.failed] == ["p_value", "kl", "columns.age.contribution"]
    assert not found.passed
    assert not found


def test_columns_are_checked_without_a_fit(frames, monkeypatch):
    monkeypatch.setattr("secant.tasks.checking.compare", None)
    a, b = frames
    limits = {
        "columns": {"income": {"ks": "<= 0.2", "mean_shift": "<= 0.3"}, "*": {"ks": "<= 0.5"}}
    }
    found = secant.check(a, b, limits=limits)
    distance = ks_2samp(a["income"], b["income"]).statistic
    assert found.rows[0].value == pytest.approx(distance)
    assert found.comparison is None
    assert [row.name for row in found.rows[2:]] == [
        "columns.age.ks",
        "columns.income.ks",
        "columns.colour.ks",
    ]
    assert found.passed


def test_of_a_column_of_categories_the_worst_counts(frames):
    (row,) = secant.check(*frames, limits={"columns": {"colour": {"ks": "<= 0.1"}}}).rows
    # The shares of red and of blue differ by 0.4, that of green does not.
    assert row.value == pytest.approx(0.4, abs=0.1)
    assert row.detail in ("colour=red", "colour=blue")
    assert row.detail in row.value_text
    assert not row.passed


def test_a_shift_counts_in_either_direction(frames):
    limits = {"columns": {"age": {"mean_shift": "<= 0.3"}}}
    for tables in (frames, frames[::-1]):
        (row,) = secant.check(*tables, limits=limits).rows
        assert row.value == pytest.approx(1.0, abs=4.5 * (1 / 500 + 1 / 400) ** 0.5)
        assert not row.passed


def test_files_frames_and_arrays(frames, tmp_path):
    a, b = (f[["age", "income"]] for f in frames)
    a.to_csv(tmp_path / "a.csv", index=False)
    b.to_parquet(tmp_path / "b.parquet")
    limits = {"columns": {"age": {"ks": "<= 0.1"}}}
    by_file = secant.check(tmp_path / "a.csv", str(tmp_path / "b.parquet"), limits=limits)
    by_frame = secant.check(pl.from_pandas(a), b, limits=limits)
    by_array = secant.check(
        a.to_numpy(), b.to_numpy(), limits={"columns": {"column 0": {"ks": "<= 0.1"}}}
    )
    assert by_file.sample_names == ("a.csv", "b.parquet")
    values = [found.rows[0].value for found in (by_file, by_frame, by_array)]
    assert values == pytest.approx([values[0]] * 3, abs=1e-12)


def test_one_line_in_a_test(frames):
    limits = {"rows": ">= 100", "columns": {"age": {"ks": "<= 0.1"}}}
    with pytest.raises(AssertionError) as caught:
        secant.check(*frames, limits=limits).verify()
    lines = str(caught.value).splitlines()
    assert lines[0] == "1 of 2 limits failed for b against a."
    assert lines[3].split() == ["rows", ">=", "100", "400", "pass"]
    assert lines[4].startswith("columns.age.ks  <= 0.1")
    assert lines[4].endswith("FAIL")
    assert repr(secant.check(*frames, limits=limits)) == str(caught.value)
    assert secant.check(*frames, limits={"rows": ">= 100"}).verify().passed


@pytest.mark.parametrize(
    ("limits", "options", "message"),
    [
        ({"columns": {"agee": {"ks": "< 1"}}}, {}, "'agee'; did you mean 'age'"),
        ({"p_value": ">= 0.001"}, {}, "can never fail: with 999 permutations"),
        ({"p_value": ">= 0.04"}, {"n_permutations": 19}, "no p-value is below 0.05"),
    ],
)
def test_refusals(frames, limits, options, message):
    with pytest.raises(LimitError, match=message):
        secant.check(*frames, limits=limits, **options)


def test_junit_has_a_case_a_limit_and_survives_hostile_names():
    rng = np.random.default_rng(0)
    name = 'a<b>&"\x1b[31m\x00'
    a, b = (pd.DataFrame({name: rng.normal(s, 1.0, 50)}) for s in (0.0, 3.0))
    found = secant.check(a, b, limits={"rows": ">= 10", "columns": {"*": {"ks": "<= 0.5"}}})
    suite = ElementTree.fromstring(junit(found))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    passed, failed = suite.findall("testcase")
    assert passed.find("failure") is None
    assert "must be <= 0.5" in failed.find("failure").text
    assert 'a<b>&"' in failed.get("name")
