"""Run the blocks of Python of a guide."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs/guides"
MEASURED = ROOT / "benchmarks/comparison"


def text_of(page):
    return (GUIDES / page).read_text(encoding="utf-8")


def run(page):
    """The names that the blocks of Python on a page leave behind."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL):
        exec(block, names)
    return names


def measurements(script, monkeypatch):
    """The names of a script of measurements, whose folder holds what it imports."""
    monkeypatch.syspath_prepend(MEASURED)
    return runpy.run_path(str(MEASURED / script))
