"""docs/guides/tables.md, run as it stands."""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs/guides/tables.md"


def test_the_guide_to_tables():
    page = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, page)
    named = re.search(r"# (\('age'.*\))", PAGE.read_text(encoding="utf-8"))
    assert str(page["encoding"].names) == named[1]
    np.testing.assert_array_equal(np.floor(page["x_0"][1]), [45, 0, 1, 0, 19539])
    np.testing.assert_array_equal(np.floor(page["x_1"][1]), [34, 0, 0, 1, 19845])
    np.testing.assert_array_equal(page["rows"][-1], page["x_0"][-1])  # the last piece
