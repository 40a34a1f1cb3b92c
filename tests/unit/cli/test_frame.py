"""The frame of a command: exit codes, streams, warnings, JSON and config files."""

import enum
import json
import warnings
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from secant.cli.command import command
from secant.cli.session import Session
from secant.exceptions import OverlapWarning
from secant.tasks.information import unit_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def fail(error):
    raise error


ERRORS = {
    "file": FileNotFoundError(2, "No such file or directory", "a.csv"),
    "extra": ImportError("`export` needs onnx; install it with `pip install 'secant[onnx]'`."),
    "bug": KeyError("oops"),
    "interrupt": KeyboardInterrupt(),
}

application = typer.Typer(pretty_exceptions_enable=False)


@application.callback()
def _group():
    pass


@application.command("paint")
@command("paint", trains=True)
def paint(
    session: Session,
    thing: Annotated[str, typer.Argument()],
    colour: Annotated[Colour, typer.Option()] = Colour.RED,
    coats: Annotated[int, typer.Option()] = 1,
    gloss: Annotated[float, typer.Option()] = 0.5,
    with_rim: Annotated[bool, typer.Option("--rim/--no-rim")] = False,  # noqa: FBT002
    only: Annotated[list[str] | None, typer.Option()] = None,
) -> None:
    """Paint."""
    session.say("on the way")
    if thing in ERRORS:
        fail(ERRORS[thing])
    if thing == "value":
        unit_of("miles")
    if thing == "thin":
        warnings.warn("effective sample size 3 of 100.", OverlapWarning, stacklevel=1)
        warnings.warn("not for users", DeprecationWarning, stacklevel=1)
    session.show(f"{thing} is {colour.value}\x1b[31m")
    found = {"coats": coats, "gloss": gloss, "rim": with_rim, "only": only}
    session.finish(
        {"colour": colour.value, "nan": float("nan"), **found, "training": dict(session.training)}
    )


def run(*arguments):
    return CliRunner().invoke(application, ["paint", *map(str, arguments)])


def result(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)["result"]


def test_results_go_to_stdout_and_messages_to_stderr():
    found = run("door")
    assert found.exit_code == 0
    assert found.stdout == "door is red\\x1b[31m\n"
    assert found.stderr == "on the way\n"


def test_quiet_leaves_the_result():
    found = run("door", "--quiet")
    assert found.stdout.startswith("door is red")
    assert found.stderr == ""


def test_json_is_one_line_and_all_of_stdout():
    found = run("door", "--json", "--seed", 7)
    assert found.stdout.count("\n") == 1
    envelope = json.loads(found.stdout)
    assert list(envelope) == ["schema", "version", "seed", "warnings", "result"]
    assert (envelope["schema"], envelope["seed"]) == ("secant/paint/1", 7)
    assert envelope["result"]["nan"] is None


@pytest.mark.parametrize(
    ("thing", "code", "said"),
    [
        ("value", 2, "error: `base` must be 'nats' or 'bits'; got 'miles'.\n"),
        ("file", 2, "error: a.csv: No such file or directory.\n"),
        ("extra", 2, "secant[onnx]"),
        ("interrupt", 130, "Stopped by you"),
    ],
)
def test_a_mistake_has_a_message_and_no_traceback(thing, code, said):
    found = run(thing)
    assert found.exit_code == code
    assert said in found.stderr
    assert "Traceback" not in found.output
    assert found.stdout == ""


def test_a_bug_keeps_its_traceback():
    found = run("bug")
    assert found.exit_code == 3
    assert "Traceback" in found.stderr
    assert "please report it" in found.stderr


def test_an_error_of_a_foreign_library_is_a_bug():
    ERRORS["foreign"] = ValueError("cannot reshape")
    assert run("foreign").exit_code == 3


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 1)])
def test_a_statistical_warning_is_said_once_and_fatal_under_strict(strict, code):
    found = run("thin", "--json", *strict)
    assert found.exit_code == code
    assert found.stderr == "on the way\nOverlapWarning: effective sample size 3 of 100.\n"
    assert json.loads(found.stdout)["warnings"] == [
        {"kind": "OverlapWarning", "message": "effective sample size 3 of 100."}
    ]


def test_strict_without_a_warning_is_fine():
    assert run("door", "--strict").exit_code == 0


@pytest.fixture
def config(tmp_path):
    def written(text) -> Path:
        path = tmp_path / "settings.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_a_file_sets_what_the_command_line_does_not(config):
    path = config('colour = "blue"\ncoats = 3\nrim = true\nonly = ["a", "b*"]\ngloss = 1\n')
    found = result("door", "--config", path, "--coats", 5)
    assert (found["colour"], found["coats"], found["rim"]) == ("blue", 5, True)
    assert (found["only"], found["gloss"]) == (["a", "b*"], 1.0)
    assert result("door", "--config", path, "--no-rim")["rim"] is False


def test_training_comes_from_its_table_and_steps_win(config):
    path = config("[training]\nsteps = 50\nlearning-rate = 1e-4\npatience = 'none'\n")
    expected = {"steps": 50, "learning_rate": 1e-4, "patience": None}
    assert result("door", "--config", path)["training"] == expected
    assert result("door", "--config", path, "--steps", 9)["training"] == {**expected, "steps": 9}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('color = "blue"', "unknown key 'color'; did you mean 'colour'?"),
        ("[training]\nstep = 3", "[training] has an unknown key 'step'; did you mean 'steps'?"),
        ("zzz = 1", "valid are coats, colour"),
        ('coats = "two"', "'coats' must be a whole number; got 'two', a text."),
        ("coats = true", "'coats' must be a whole number; got true, true or false."),
        ("coats = 1.5", "'coats' must be a whole number; got 1.5, a number."),
        ("rim = 1", "'rim' must be true or false; got 1, a whole number."),
        ('only = "a"', "'only' must be a list, each a text; got 'a', a text."),
        ('colour = "green"', "'colour' must be one of 'red', 'blue'; got 'green', a text."),
        ("coats = 2024-01-01", "a date or time"),
        ("[training]\npatience = 'x'", "'patience' must be a whole number or \"none\"; got 'x'"),
        ("[training]\nsteps = -1", "Training needs steps > 0; got -1."),
        ("training = 3", "'training' must be a table"),
        ("coats = ", "is not valid TOML"),
        ("a = " + "[" * 5000, "is not valid TOML"),
    ],
)
def test_a_mistake_in_a_file_is_explained(config, text, said):
    found = run("door", "--config", config(text))
    assert found.exit_code == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr


def test_a_missing_file_is_an_error(tmp_path):
    found = run("door", "--config", tmp_path / "none.toml")
    assert found.exit_code == 2
    assert "none.toml: No such file" in found.stderr
