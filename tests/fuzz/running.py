"""Runs a fuzz target under atheris, which looks for inputs that reach new lines."""

import importlib
import sys
import tempfile
from pathlib import Path

__all__ = ["run"]

FOUND = Path("fuzz-findings")


def run(target, corpus, modules):
    """Fuzz for the time given on the command line, or until a finding, which is kept.

    Args:
        target: takes bytes; raises on a finding.
        corpus: inputs to begin with.
        modules: whose lines should be reached.
    """
    try:
        import atheris
    except ImportError:
        sys.exit("Fuzzing needs atheris: pip install -c constraints.txt -e '.[fuzz]'.")
    for content in corpus:
        target(content)  # imports happen once
    for name in modules:
        _instrument(atheris, name)
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(corpus):
            (Path(folder) / str(number)).write_bytes(content)
        name = Path(sys.argv[0]).stem
        options = [f"-artifact_prefix={FOUND}/{name}-", "-timeout=5", "-rss_limit_mb=4096"]
        atheris.Setup([*sys.argv, folder, *options, "-print_final_stats=1"], target)
        atheris.Fuzz()


def _instrument(atheris, prefix):
    """Every function of the modules of that name that are loaded."""
    importlib.import_module(prefix)
    for name, module in list(sys.modules.items()):
        if name != prefix and not name.startswith(f"{prefix}."):
            continue
        for part in list(vars(module).values()):
            if getattr(part, "__module__", None) == name and hasattr(part, "__code__"):
                atheris.instrument_func(part)
