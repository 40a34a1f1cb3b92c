"""The guide to exporting, run as it stands."""

from pathlib import Path

import numpy as np
from tests.docs.guides import run, text_of


def test_the_blocks_do_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, text = run("exporting.md"), text_of("exporting.md")
    expected = names["ratio"].log_ratio(names["x_1"])
    for found in (names["log_ratio"], names["answer"]):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert names["answer"].dtype == np.float64
    assert sorted(path.name for path in Path().iterdir()) == ["model.onnx", "model.stablehlo"]
    assert all(f"`{key}`" in text for key in names["about"])
