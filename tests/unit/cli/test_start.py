"""The command line starts without the libraries it may need later."""

import json
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from secant import __version__
from secant.cli import app

COMMANDS = ["demo", "compare", "fit", "score", "mi", "density"]


def test_help_names_the_commands():
    found = CliRunner().invoke(app, ["--help"])
    assert found.exit_code == 0
    for name in COMMANDS:
        assert name in found.stdout


def paths(group, names=()):
    """Every command and group of commands, as typed."""
    yield list(names)
    for name, found in getattr(group, "commands", {}).items():
        yield from paths(found, (*names, name))


def loaded_by(commands):
    """A line a command: what its help loaded. One process for all, so that the first is seen."""
    code = (
        "import json, sys\nfrom secant.cli import app\n"
        "for path in json.loads(sys.argv[1]):\n"
        "    try:\n        app([*path, '--help'])\n    except SystemExit as end:\n"
        "        assert not end.code, path\n"
        "    found = {'jax', 'numpy', 'sklearn', 'matplotlib', 'pyarrow', 'scipy', 'jinja2',"
        " 'distributed'} & set(sys.modules)\n"
        "    print('loaded', path, sorted(found))"
    )
    command = [sys.executable, "-c", code, json.dumps(commands)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in found.stdout.splitlines() if line.startswith("loaded ")]


def test_help_of_every_command_loads_nothing_heavy():
    commands = list(paths(get_command(app)))
    assert {("score",), ("density", "score")} <= set(map(tuple, commands))
    assert loaded_by(commands) == [f"loaded {path} []" for path in commands]


def test_import_secant_loads_nothing_heavy():
    code = "import sys, secant\nprint(sorted({'jax', 'numpy', 'sklearn'} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_version_is_shown():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"secant {__version__}\n"


@pytest.mark.parametrize(
    "path",
    [[name] for name in COMMANDS] + [["density", "fit"], ["density", "score"]],
)
def test_every_command_explains_itself(path):
    found = CliRunner().invoke(app, [*path, "--help"])
    assert found.exit_code == 0
    if path not in (["density"],):
        for option in ("--json", "--seed", "--quiet", "--strict", "--config"):
            assert option in found.stdout


@pytest.mark.parametrize(
    "line",
    [
        "compare gaps.csv gaps.csv",
        "fit gaps.csv gaps.csv -o m.secant",
        "mi gaps.csv --x x --y y",
        "mi gaps.csv --matrix",
        "density fit gaps.csv -o m.secant",
        "score none.secant gaps.csv -o out.csv",
    ],
)
def test_a_mistake_in_the_data_is_found_before_jax_is_imported(tmp_path, line):
    (tmp_path / "gaps.csv").write_text("x,y\n1,2\n3,\n")
    code = (
        "import sys\nfrom secant.cli import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit as end:\n"
        "    print(end.code, 'jax' in sys.modules)"
    )
    command = [sys.executable, "-c", code, *line.split()]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout == "2 False\n", found.stderr
