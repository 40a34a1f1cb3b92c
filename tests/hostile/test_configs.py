"""Configurations corrupted at random or on purpose are refused with a message; nothing runs."""

import json
import os

import pytest
import typer
from click.testing import CliRunner
from tests.hostile.spoiling import Watch, places, spoiled_bytes, tally, told

from secant.cli import app
from secant.cli.config import ConfigError, read_config

COMMAND = typer.main.get_command(app)
PLAIN = {
    "seed": 7,
    "quiet": True,
    "columns": ["age", "x.*", "!z"],
    "missing": "drop",
    "method": "classifier",
    "training": {"steps": 50, "learning_rate": 1e-4, "patience": "none", "batch_size": 64},
}
LINES = {
    "compare": ["compare", "no.csv", "no.csv"],
    "fit": ["fit", "no.csv", "no.csv", "-o", "m.secant"],
}
# As TOML writes them: numbers too large, texts that are paths, escapes or nothing, dates, nests.
VALUES = [
    *("true", "-1", "0", "2.5", "nan", "-inf", "1e999", "9" * 5000, "0x" + "f" * 9000, "1" * 40),
    *('""', '"none"', '"\\u0000"', '"\\u001b[2J"', '"../../etc/passwd"', '"' + "x" * 9000 + '"'),
    *("2024-01-01", "1979-05-27T07:32:00Z", "07:32:00", "[]", "{}", "[[[1]]]", '[1, "a", true]'),
    *("[" * 2000, "{a=" * 400 + "1" + "}" * 400, "{a.b.c = 1}", "'''\n\n'''", "\ufeff1", "\u202e"),
]
KEYS = [
    *(
        "sed",
        "Seed",
        "seed.seed",
        '"se ed"',
        '""',
        "k" * 9000,
        '"\\u001b[2J"',
        "colums",
        "__class__",
    ),
    *("training.steps", "a." * 1000 + "a", "config", "help", "version", "json", "output", "steps"),
]


def as_toml(tree):
    """The text of a tree; a value that is `Raw` stands as it is."""
    lines = [f"{k} = {_value(v)}" for k, v in tree.items() if not isinstance(v, dict)]
    for name, table in tree.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines)


class Raw(str):
    """A piece of TOML."""

    __slots__ = ()


def _value(value):
    return value if isinstance(value, Raw) else json.dumps(value)


def spoiled_tree(rng):
    """Entries replaced, renamed, dropped or doubled."""
    tree = json.loads(json.dumps(PLAIN))
    for _ in range(int(rng.integers(1, 4))):
        found = places(tree)
        node, key = found[int(rng.integers(len(found)))]
        match rng.integers(4):
            case 0 | 1:
                node[key] = Raw(VALUES[int(rng.integers(len(VALUES)))])
            case 2:
                del node[key]
            case 3 if isinstance(node, dict):
                node[KEYS[int(rng.integers(len(KEYS)))]] = node.pop(key)
        tree = tree or dict(PLAIN)
    text = as_toml(tree)
    return (text + "\n" + text if rng.random() < 0.05 else text).encode()


def spoiled(number, rng):
    """Alternately as bytes and as a tree."""
    return spoiled_bytes(as_toml(PLAIN).encode(), rng) if number % 2 else spoiled_tree(rng)


def outcome(path):
    """The outcome of the real command with this file and missing tables."""
    line = LINES[sorted(LINES)[path.stat().st_size % len(LINES)]]
    found = CliRunner().invoke(COMMAND, [*line, "--config", str(path)])
    assert found.exit_code == 2, found.output
    assert "Traceback" not in found.output
    assert len(found.stderr) < 1500
    assert found.stderr.replace("\n", "").isprintable()
    return "taken" if "no.csv" in found.stderr else "refused"


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    path = tmp_path_factory.mktemp("first") / "c.toml"
    for line in LINES.values():  # modules are imported once; not so under the watch
        CliRunner().invoke(COMMAND, [*line, "--help"])
        for text in (
            as_toml(PLAIN),
            "seed = 1\n[training]\nsteps = 3",
            "sed = 1",
            "=",
            "seed = -1",
        ):
            path.write_text(text)
            CliRunner().invoke(COMMAND, [*line, "--config", str(path)])
    return Watch()


def test_some_hundred_spoiled_configs(watch, tmp_path):
    counts, crashes = tally(watch, tmp_path / "c.toml", spoiled, outcome, n=300, seed=0)
    assert (watch.seen, crashes, counts["slow"]) == ([], [], 0)
    assert min(counts["refused"], counts["taken"]) > 20


@pytest.mark.slow
def test_ten_thousand_spoiled_configs(watch, tmp_path, capsys):
    counts, crashes = tally(watch, tmp_path / "c.toml", spoiled, outcome, n=10_000, seed=1)
    with capsys.disabled():
        print(told("configurations", 10_000, watch, counts, crashes))
    assert (watch.seen, crashes, counts["slow"]) == ([], [], 0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"seed = " + b"9" * 5000, "not valid TOML"),
        (b"seed = 0x" + b"f" * 9000, "must be a whole number; got a whole number of too many"),
        (b"a." * 30_000 + b"a = 1", "fewer than 2,000 dots"),
        (b"#" * 100_000, "smaller than 65,536 bytes"),
        (b"a = " + b"[" * 9000, "nested too deeply"),
        (b"k" * 60_000 + b" = 1", "has an unknown key 'kkk"),
        (b"columns = ['" + b"x" * 60_000 + b"', 1]", "must be a list, each a text; got ['xxx"),
        (b"columns = ['a\\u0000']\n", "no.csv"),
        (b'columns = ["a\\u0000"]\n', "must be a list, each a text"),
        (b"seed = 1\nseed = 2", "not valid TOML"),
        (b"seed = '\xff'", "not valid TOML"),
        (b"sed = 1", "did you mean 'seed'?"),
    ],
)
def test_what_is_said(tmp_path, content, said):
    (tmp_path / "c.toml").write_bytes(content)
    found = CliRunner().invoke(COMMAND, [*LINES["fit"], "--config", str(tmp_path / "c.toml")])
    assert found.exit_code == 2
    assert said in found.stderr
    assert len(found.stderr) < 500 + len(str(tmp_path))


def test_only_plain_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        (tmp_path / "link.toml").unlink(missing_ok=True)
        (tmp_path / "link.toml").symlink_to(path)
        with pytest.raises(ConfigError, match="not a plain file"):
            read_config(tmp_path / "link.toml")
    (tmp_path / "plain.toml").write_text("seed = 1")
    (tmp_path / "link.toml").unlink()
    (tmp_path / "link.toml").symlink_to(tmp_path / "plain.toml")
    assert read_config(tmp_path / "link.toml") == {"seed": 1}
