"""The commands that this package brings."""

import json
import subprocess
import sys

import pytest
from tests.unit.cli.test_start import loaded_by
from typer.testing import CliRunner

from secant.cli import app
from secant_bench.cli.data import Name
from secant_bench.listing import read_listing, written_listing
from secant_bench.real_tables import TABLES

COMMANDS = [
    *(["data", name] for name in ("list", "prepare", "check")),
    *(["bench", name] for name in ("list", "run", "report")),
]


def test_help_names_the_commands():
    found = CliRunner().invoke(app, ["--help"])
    assert {"bench", "data"} <= set(found.stdout.split())


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_explains_itself(path):
    found = CliRunner().invoke(app, [*path, "--help"])
    assert found.exit_code == 0
    for option in ("--json", "--seed", "--quiet", "--strict", "--config"):
        assert option in found.stdout


def test_help_of_every_command_loads_nothing_heavy():
    commands = [[], ["data"], ["bench"], *COMMANDS]
    assert loaded_by(commands) == [f"loaded {path} []" for path in commands]


def test_choices_are_those_of_the_library():
    assert {n.value for n in Name} == set(TABLES)


def test_the_list_of_suites_is_that_of_the_catalogue():
    remedy = "run `python -m secant_bench.listing`"
    assert json.loads(written_listing()) == read_listing(), remedy


def test_the_list_of_suites_needs_no_jax():
    code = (
        "import sys\nfrom secant.cli import app\n"
        "try:\n    app(['bench', 'list', '--json'])\nexcept SystemExit as end:\n"
        "    print(end.code, 'jax' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "0 False"
