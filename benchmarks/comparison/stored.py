"""Rows of measurements: one line of JSON each, beside the script."""

import json
from pathlib import Path


def kept(path: Path) -> list[dict]:
    """The rows of a file; none if it does not exist."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def keep(path: Path, row: dict) -> None:
    """Append one row at once, so that a stopped run loses none."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
