"""Tables as commands take them."""

import pyarrow as pa
import pytest

from secant.cli.inputs import Missing, patterns, read_one, read_two
from secant.tables import encoding
from secant.tables.files import TableError, write_table


@pytest.mark.parametrize(
    ("values", "names", "expected"),
    [
        (None, ["a"], None),
        ([], ["a"], None),
        (["a,b*"], ["a", "b1"], ["a", "b*"]),
        (["a,b"], ["a,b", "c"], ["a,b"]),
        (["a", "!b,c,"], ["a", "b", "c"], ["a", "!b", "c"]),
    ],
)
def test_commas_separate_unless_a_column_has_one(values, names, expected):
    assert patterns(values, names) == expected


def test_choices_are_those_of_the_library():
    assert [m.value for m in Missing] == [m.value for m in encoding.Missing]


def test_two_tables_share_an_encoding_but_no_noise(tmp_path):
    for name in ("a.csv", "b.csv"):
        write_table(tmp_path / name, pa.table({"c": ["u", "v"] * 5, "x": [1.0, 2.0] * 5}))
    places = tmp_path / "a.csv", tmp_path / "b.csv"
    first, second = read_two(*places, None, Missing.REFUSE, seed=0)
    assert first.encoding.inputs == second.encoding.inputs == ("c", "x")
    assert (first.rows[:, -1] == second.rows[:, -1]).all()
    assert (first.rows[:, 0] != second.rows[:, 0]).all()


def test_missing_rows_are_refused_or_dropped(tmp_path):
    write_table(tmp_path / "a.csv", pa.table({"x": [1.0, None, 3.0]}))
    with pytest.raises(TableError, match="--missing drop"):
        read_one(tmp_path / "a.csv", None, Missing.REFUSE, seed=0)
    found = read_one(tmp_path / "a.csv", None, Missing.DROP, seed=0)
    assert found.rows.tolist() == [[1.0], [3.0]]
    assert found.encoded.kept.tolist() == [0, 2]
