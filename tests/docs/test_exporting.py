"""The guide to exporting, run as it stands."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs/guides/exporting.md"


@pytest.fixture
def names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(block, names)
    return names


def test_the_blocks_do_what_they_say(names):
    expected = names["ratio"].log_ratio(names["x_1"])
    for found in (names["log_ratio"], names["answer"]):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert names["answer"].dtype == np.float64
    assert sorted(path.name for path in Path().iterdir()) == ["model.onnx", "model.stablehlo"]
    text = PAGE.read_text("utf-8")
    assert all(f"`{key}`" in text for key in names["about"])
