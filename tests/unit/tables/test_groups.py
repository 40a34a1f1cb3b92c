"""Groups of columns by names and globs."""

import pytest

from secant.tables.errors import TableError
from secant.tables.groups import ColumnGroup, column_groups, encoded_groups, single_columns

PLAIN = {name: (name,) for name in ("age", "e_0", "e_1", "income")}
ENCODED = {"age": ("age",), "city": ("city=a", "city=b"), "e_0": ("e_0",)}


def test_groups_are_numbers_of_encoded_columns():
    assert column_groups({"emb": "e_*", "rest": ["age", "income"]}, PLAIN) == (
        ColumnGroup("emb", (1, 2)),
        ColumnGroup("rest", (0, 3)),
    )
    found = column_groups({"place": ["city", "e_*"]}, ENCODED)
    assert found == (ColumnGroup("place", (1, 2, 3)),)
    assert single_columns(4, found).tolist() == [0]
    assert column_groups(None, PLAIN) == ()


def test_names_of_encoded_columns_give_the_same_groups():
    assert encoded_groups({"emb": "e_*"}, PLAIN) == {"emb": "e_*"}
    names = encoded_groups({"place": ["city", "e_*"]}, ENCODED)
    assert names == {"place": ["city=a", "city=b", "e_0"]}
    each = {name: (name,) for own in ENCODED.values() for name in own}
    assert column_groups(names, each) == column_groups({"place": ["city", "e_*"]}, ENCODED)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"emb": "f_*"}, "Group 'emb': No column matches 'f_*'"),
        ({"a": "e_*", "b": "e_1"}, "'a' and 'b' share 'e_1'"),
        ({"age": "e_*"}, "cannot be called 'age'"),
        ({"": "e_*"}, "needs a name"),
        ({"emb": []}, "Group 'emb': An empty list"),
    ],
)
def test_what_is_no_group_is_refused(groups, words):
    with pytest.raises(TableError) as error:
        column_groups(groups, PLAIN)
    assert words in str(error.value)


def test_a_group_may_have_the_name_of_its_own_column():
    assert column_groups({"e_0": "e_*"}, PLAIN) == (ColumnGroup("e_0", (1, 2)),)


def test_a_list_of_columns_is_no_mapping():
    with pytest.raises(TypeError, match="must be a mapping"):
        column_groups(["e_*"], PLAIN)
