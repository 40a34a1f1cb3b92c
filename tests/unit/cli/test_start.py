"""The command line starts without the libraries it may need later."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from secant import __version__
from secant.cli import app

COMMANDS = ["demo", "compare", "fit", "score", "mi", "density", "data", "bench"]


def test_help_names_the_commands():
    found = CliRunner().invoke(app, ["--help"])
    assert found.exit_code == 0
    for name in COMMANDS:
        assert name in found.stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom secant.cli import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'jax', 'numpy', 'sklearn', 'matplotlib', 'pyarrow', 'scipy', 'jinja2'}"
        " & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, "--help"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_the_version_is_shown():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"secant {__version__}\n"


@pytest.mark.parametrize(
    "path",
    [[name] for name in COMMANDS]
    + [["data", "list"], ["data", "prepare"], ["data", "check"]]
    + [["bench", "list"], ["bench", "run"], ["bench", "report"]]
    + [["density", "fit"], ["density", "score"]],
)
def test_every_command_explains_itself(path):
    found = CliRunner().invoke(app, [*path, "--help"])
    assert found.exit_code == 0
    if path not in (["data"], ["bench"], ["density"]):
        for option in ("--json", "--seed", "--quiet", "--strict", "--config"):
            assert option in found.stdout
