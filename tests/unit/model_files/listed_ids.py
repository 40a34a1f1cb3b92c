"""The committed list of ids, and the ids that a file names."""

from pathlib import Path

from secant.model_files.container import read

FILE = Path(__file__).parents[2] / "golden/models/ids.txt"


def listed():
    """Two sets: ids that files may have, which stay, and those of classes that no file holds."""
    kept, passing = FILE.read_text("utf-8").split("# Passing", 1)
    return _ids(kept), _ids(passing.partition("\n")[2])


def _ids(text):
    return {line for line in text.splitlines() if line and not line.startswith("#")}


def named_in(path):
    """Every id that a file names."""
    return set(_named(read(path).header["estimator"]))


def _named(tree):
    parts = tree if isinstance(tree, list) else []
    if isinstance(tree, dict):
        if "class" in tree:
            yield tree["class"]
        parts = list(tree.values())
    for part in parts:
        yield from _named(part)
