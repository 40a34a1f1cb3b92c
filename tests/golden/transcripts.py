"""Transcripts of commands, stored as files; what differs between machines is not compared.

`pytest tests/golden --update-golden` rewrites them; read the difference before you commit it.
"""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from secant import __version__
from secant.cli import app

RELATIVE, ABSOLUTE = 0.3, 0.3  # of estimates from a few steps on another machine
_NUMBER = re.compile(r"[+\-−]?\d+(\.\d+)?([eE][+-]?\d+)?( ?%)?|\b(nan|inf)\b")
_SPACES = re.compile(r"[ ─]{2,}")


@dataclass(frozen=True)
class Golden:
    """Compares the output of commands with their transcripts."""

    folder: Path
    update: bool
    kept: Path = Path(__file__).parent / "cli"

    def run(self, *arguments, code=0):
        """Run a command in this process."""
        found = CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(a) for a in arguments])
        assert found.exit_code == code, found.output
        return found

    def text(self, name, *arguments, code=0, keep_numbers=False):
        """The command prints the same words, and where nothing is estimated the same numbers."""
        found = self.run(*arguments, code=code)
        shown = " ".join(["$ secant", *map(str, arguments)])
        parts = [shown, found.stdout, "--- stderr", found.stderr, f"--- exit code {code}\n"]
        text = self._normalised("\n".join(parts), keep_numbers=keep_numbers)
        self._check(self.kept / f"{name}.txt", text, _same_text)

    def json(self, name, *arguments, code=0):
        """The command prints JSON of the same keys and types, and of values that are close."""
        found = self.run(*arguments, "--json", "--quiet", code=code)
        text = self._normalised(found.stdout, keep_numbers=True)
        pretty = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        self._check(self.kept / f"{name}.json", pretty + "\n", _same_json)

    def _normalised(self, text, *, keep_numbers):
        text = text.replace(str(self.folder), "FOLDER").replace(__version__, "VERSION")
        if keep_numbers:
            return text
        lines = [_SPACES.sub("  ", _NUMBER.sub("#", line)).rstrip() for line in text.splitlines()]
        return "\n".join(lines) + "\n"

    def _check(self, path, text, same):
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        same(text, path.read_text(encoding="utf-8"))


def _same_text(found, expected):
    assert found == expected


def _same_json(found, expected):
    _compare(json.loads(found), json.loads(expected), "$")


_VARIES = ("$.result.seconds", "$.result.versions", "$.result.settings")


def _compare(found, expected, place):
    assert type(found) is type(expected), place
    if place.startswith(_VARIES) and not isinstance(expected, dict):
        return
    if isinstance(expected, dict):
        assert list(found) == list(expected), place
        for key in expected:
            _compare(found[key], expected[key], f"{place}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), place
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            _compare(one, other, f"{place}[{number}]")
    elif isinstance(expected, float):
        close = math.isclose(found, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        assert close, f"{place}: {found}, expected {expected}"
    elif isinstance(expected, str):
        assert _NUMBER.sub("#", found) == _NUMBER.sub("#", expected), place
    elif not _is_measured(place):
        assert found == expected, place


def _is_measured(place):
    """Integers that depend on a fit or on the compiler."""
    return place.endswith((".row", ".best_step", ".result.size"))
