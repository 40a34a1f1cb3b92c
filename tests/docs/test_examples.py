"""Every example runs without a warning and makes its picture."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
QUICK = (
    "bridge_noise",
    "riemann_sums",
    "secant_and_tangent",
    "time_sampler",
)  # `make docs` runs all of them
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


@pytest.mark.slow
def test_the_picture_of_the_readme_is_that_of_its_example(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"!\[[^\]]*\]\((docs/figures/(\w+)\.png)\)", readme)
    made = tmp_path / "picture.png"
    subprocess.run([sys.executable, str(ROOT / f"examples/{shown[1]}.py"), str(made)], check=True)
    old, new = (np.asarray(Image.open(p).convert("L"), float) for p in (ROOT / shown[0], made))
    assert old.shape == new.shape
    assert np.abs(old - new).mean() < 1.0  # of 255: another machine may move a line by a pixel


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path):
    code = path.read_text(encoding="utf-8")
    assert len(code.splitlines()) < 60
    title, _, text = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
    assert title
    assert text.strip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 7
