"""Run the blocks of Python of a guide."""

import re
from pathlib import Path

GUIDES = Path(__file__).parents[2] / "docs/guides"


def text_of(page):
    return (GUIDES / page).read_text(encoding="utf-8")


def run(page):
    """The names that the blocks of Python on a page leave behind."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL):
        exec(block, names)
    return names
