"""The picture and the table of the architecture are those of the code."""

import runpy
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts/draw_imports.py"))


def test_they_are_up_to_date():
    for path, text in SCRIPT["outputs"]().items():
        assert path.read_text(encoding="utf-8") == text, f"run scripts/draw_imports.py for {path}"


def test_implied_lines_are_left_out():
    edges = {("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")}
    assert SCRIPT["reduced"](edges) == {("a", "b"), ("b", "c"), ("c", "d")}
