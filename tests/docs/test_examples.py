"""Every example runs without a warning and makes its picture."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
QUICK = ("bridge_noise", "secant_and_tangent", "time_sampler")  # `make docs` runs all of them
BY_TIME = [
    pytest.param(path, marks=[] if path.stem in QUICK else pytest.mark.slow) for path in EXAMPLES
]


@pytest.mark.parametrize("path", BY_TIME, ids=lambda path: path.stem)
def test_an_example_makes_its_picture(path, tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, "-W", "error", str(path), str(picture)]
    subprocess.run(command, cwd=tmp_path, check=True, env=None)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 5000


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path):
    code = path.read_text(encoding="utf-8")
    assert len(code.splitlines()) < 60
    title, _, text = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
    assert title
    assert text.strip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 7
