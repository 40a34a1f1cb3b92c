"""Commands of other packages, and the message if the package is missing."""

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from secant import cli
from secant.cli import app

brought = typer.Typer(help="Brought along.")


@brought.command("say")
def _say():
    typer.echo("said")


@brought.callback()
def _group():
    pass


@pytest.fixture
def installed(monkeypatch):
    """Sets the entry points that are found."""

    def found(*points):
        monkeypatch.setattr(cli, "entry_points", lambda group: points)

    return found


def test_a_command_comes_by_an_entry_point(installed, monkeypatch):
    point = EntryPoint("extra", "brought.along:app", cli._GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: brought)
    installed(point)
    assert CliRunner().invoke(app, ["extra", "say"]).stdout == "said\n"
    assert "Brought along." in CliRunner().invoke(app, ["--help"]).stdout


@pytest.mark.parametrize("name", ["bench", "data"])
def test_without_the_package_a_command_says_how_to_get_it(installed, name):
    installed()
    found = CliRunner().invoke(app, [name, "list"])
    assert found.exit_code == 2
    assert "secant-bench" in found.stderr
    assert "pip install ./benchmarks" in found.stderr
    assert name not in CliRunner().invoke(app, ["--help"]).stdout.split()


def test_an_unknown_command_stays_one(installed):
    installed()
    found = CliRunner().invoke(app, ["benhc"])
    assert found.exit_code == 2
    assert "No such command" in found.stderr
