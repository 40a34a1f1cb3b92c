"""Limits in TOML: what is accepted, and the errors."""

import math

import pytest

from secant.limits import Limit, LimitError, read_limits


def test_a_file_with_tables_and_dotted_keys(tmp_path):
    path = tmp_path / "limits.toml"
    path.write_text(
        'overlap = ">= 0.8"\nkl = "<=5e-2"\nrows = "> 500"\n'
        'columns.age.ks = "<= 0.1"\n[columns."e_*"]\nmean-shift = "< .5"\n'
    )
    assert read_limits(path) == (
        Limit("overlap", ">=", 0.8),
        Limit("kl", "<=", 0.05),
        Limit("rows", ">", 500.0),
        Limit("ks", "<=", 0.1, "age"),
        Limit("mean_shift", "<", 0.5, "e_*"),
    )
    assert read_limits(str(path)) == read_limits(path)
    assert [str(limit) for limit in read_limits(path)][3] == "columns.age.ks <= 0.1"


@pytest.mark.parametrize(
    ("relation", "below", "at", "above"),
    [
        (">=", False, True, True),
        (">", False, False, True),
        ("<=", True, True, False),
        ("<", True, False, False),
    ],
)
def test_relations(relation, below, at, above):
    limit = Limit("kl", relation, 0.5)
    assert [limit.holds(v) for v in (0.4, 0.5, 0.6)] == [below, at, above]
    assert not limit.holds(math.nan)


def test_only_some_quantities_need_a_fit():
    declared = read_limits(
        {
            "rows": ">= 1",
            "p_value": ">= 0.01",
            "columns": {"age": {"ks": "< 1", "p_value": "> 0", "contribution": "< 1"}},
        }
    )
    assert [limit.needs_fit for limit in declared] == [False, True, False, False, True]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"overlp": ">= 0.8"}, "unknown key 'overlp'; did you mean 'overlap'"),
        ({"column": {"age": {"ks": "< 1"}}}, "did you mean 'columns'"),
        ({"columns": {"age": {"kss": "< 1"}}}, r"\[columns.age\] has an unknown key 'kss'; did"),
        ({"zzz": ">= 1"}, "Valid are p_value, overlap, kl,"),
        ({"overlap": 0.8}, "must be a text of a relation .* got 0.8, a number"),
        ({"overlap": "0.8"}, "must be a text of a relation"),
        ({"overlap": ">= nan"}, "must be a text of a relation"),
        ({"overlap": "=> 0.8"}, "must be a text of a relation"),
        ({"columns": ">= 1"}, "'columns' must be a table"),
        ({"columns": {"age": "<= 1"}}, r"\[columns.age\] must be a table"),
        ({}, "declares no limit"),
        ({"columns": {}}, "declares no limit"),
    ],
)
def test_mistakes_name_what_was_meant(limits, message):
    with pytest.raises(LimitError, match=message):
        read_limits(limits)


def test_of_several_columns_the_worst_counts():
    values = {"a": 0.1, "b": 0.4, "c": 0.2}
    assert Limit("ks", "<=", 0.3, "x").worst(values) == "b"
    assert Limit("p_value", ">=", 0.3, "x").worst(values) == "a"
