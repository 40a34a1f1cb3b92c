"""docs/guides/tables.md, run as it stands."""

import re

import numpy as np
from tests.docs.guides import run, text_of


def test_the_guide_to_tables():
    page = run("tables.md")
    named = re.search(r"# (\('age'.*\))", text_of("tables.md"))
    assert str(page["encoding"].names) == named[1]
    np.testing.assert_array_equal(np.floor(page["x_0"][1]), [45, 0, 1, 0, 19539])
    np.testing.assert_array_equal(np.floor(page["x_1"][1]), [34, 0, 0, 1, 19845])
    np.testing.assert_array_equal(page["rows"][-1], page["x_0"][-1])  # the last piece
