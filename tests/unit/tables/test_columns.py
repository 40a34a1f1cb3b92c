"""Columns chosen by name or pattern."""

import pytest

from secant.tables.files import TableError, selected

NAMES = ["age", "x1", "x2", "Colour", "x[1]", "!odd"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["x2", "age"], ["age", "x2"]),
        (["x?"], ["x1", "x2"]),
        (["*"], NAMES),
        (["x[1]"], ["x[1]"]),  # a name before it is a pattern
        (["x[12]"], ["x1", "x2"]),
        (["!x*"], ["age", "Colour", "!odd"]),
        (["x*", "!x2"], ["x1", "x[1]"]),
        (["!odd"], ["!odd"]),
        (["!!odd", "!age"], ["x1", "x2", "Colour", "x[1]"]),
    ],
)
def test_patterns_choose_in_the_order_of_the_table(patterns, expected):
    assert selected(NAMES, patterns) == expected


def test_a_pattern_for_nothing_names_the_nearest_column():
    with pytest.raises(TableError, match=r"No column matches 'color'; did you mean 'Colour'\?"):
        selected(NAMES, ["age", "color"])
    with pytest.raises(TableError, match=r"'age'; did you mean 'Age at sign-up \(years\)'\?"):
        selected(["name", "Age at sign-up (years)"], ["age"])
    with pytest.raises(TableError, match=r"No column matches 'zzz'. The columns are 'age', 'x1'"):
        selected(NAMES, ["!zzz"])


def test_something_must_be_left():
    with pytest.raises(TableError, match="'!\\*' leaves none of 'age'"):
        selected(NAMES, ["!*"])
    with pytest.raises(TableError, match="An empty list leaves none"):
        selected(NAMES, [])
