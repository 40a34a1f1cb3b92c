"""Random command lines: an answer, a warning or a user's error, never exit code 3."""

import os

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.model_files.test_formats import FILES
from typer.main import get_command

from secant.cli import app

COMMAND = get_command(app)
EXPECTED = (0, 1, 2, 130)
# Slow commands run on broken tables only.
COMMANDS = {
    "compare": 2,
    "check": 2,
    "fit": 2,
    "score": 2,
    "mi": 1,
    "density fit": 1,
    "density score": 2,
    "data list": 0,
    "data check": 1,
    "data prepare": 2,
    "bench list": 0,
    "export": 1,
}
WORDS = [
    *(
        "",
        "-",
        "--",
        "0",
        "-1",
        "1e999",
        "nan",
        "9" * 30,
        "true",
        "none",
        "x",
        "y,z",
        "*",
        "[",
        "!x",
    ),
    *("bad.csv", "names.csv", "no.csv", "t.xlsx", ".", "/dev/null", "/proc/self/mem", "pipe.csv"),
    *("model.secant", "broken.secant", "good.toml", "bad.toml", "out/", "out.html", "no/out.csv"),
    *("\x1b[2J", "\udcff.csv", "x" * 300 + ".csv", "a\nb", "power", "parquet", "onnx", "é.csv"),
]


def options_of(command):
    found = COMMAND
    for part in command.split():
        found = found.get_command(found.make_context(part, [], resilient_parsing=True), part)
    return sorted(o for p in found.params if p.param_type_name == "option" for o in p.opts)


@st.composite
def lines(draw):
    command = draw(st.sampled_from(sorted(COMMANDS)))
    n = COMMANDS[command]
    line = [*command.split(), *draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n + 1))]
    for _ in range(draw(st.integers(0, 4))):
        line.append(draw(st.sampled_from([*options_of(command), "--what", "--help"])))
        if draw(st.booleans()):
            line.append(draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=6))))
    return line


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of files, none of which holds a table that could be fitted."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "bad.csv").write_bytes(b"x,y\n1\n\xff")
    (folder / "names.csv").write_text("x,y,z\n")
    (folder / "good.toml").write_text("seed = 3\n")
    (folder / "bad.toml").write_text("seed = 'three'\n")
    (folder / "broken.secant").write_bytes(FILES[0].read_bytes()[:500])
    (folder / "out").mkdir()
    os.mkfifo(folder / "pipe.csv")
    before = os.getcwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.mark.usefixtures("place")
@settings(max_examples=60, deadline=None)
@given(line=lines())
def test_any_command_line(line):
    check(line)


def check(line):
    found = CliRunner().invoke(COMMAND, line)
    assert found.exit_code in EXPECTED, (line, found.output)
    assert "Traceback" not in found.output, (line, found.output)


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_thousands_of_command_lines(capsys):
    seen = []

    @settings(max_examples=3_000, deadline=None, database=None)
    @given(line=lines())
    def each(line):
        check(line)
        seen.append(line)

    each()
    with capsys.disabled():
        print(f"\n{len(seen)} command lines made up: 0 bugs, 0 tracebacks")


@pytest.mark.parametrize(
    "options",
    [
        ("--seed", str(2**32)),
        ("--seed", "9" * 30),
        ("--steps", "9" * 30),
        ("--permutations", "9" * 30),
        ("--confidence", "nan"),
    ],
)
def test_numbers_out_of_range(tmp_path, options):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 2))
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="x,y", comments="")
    line = ["compare", *[str(tmp_path / "a.csv")] * 2, "--method", "logistic", *options]
    found = CliRunner().invoke(COMMAND, line)
    assert found.exit_code == 2, found.output
    assert "Traceback" not in found.output
