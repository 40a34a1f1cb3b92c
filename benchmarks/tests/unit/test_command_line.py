"""The suite of the command line: what is run, what is written, and its table."""

import json
import sys

import pyarrow.parquet as pq
import pytest
from benchmarks.tests.unit.sweeping import swept

from secant_bench import command_line
from secant_bench.command_line import CommandRow, command_section
from secant_bench.rows import keep_rows, read_rows


def run(folder, match):
    return swept(command_line.command_line(), folder, n_seeds=1, match=match)


def test_help_is_timed_in_turn_with_jax(tmp_path, monkeypatch):
    taken = {"--help": 0.1, "import jax": 0.4}
    asked = []
    monkeypatch.setattr(
        command_line, "seconds_of", lambda command: (asked.append(command), taken[command[-1]])[1]
    )
    (row,) = run(tmp_path, "help")
    assert (row.seconds, row.yardstick, row.status) == (0.1, 0.4, "finished")
    assert [c[-1] for c in asked[:4]] == ["--help", "import jax"] * 2
    assert asked[0][0] == sys.executable


def test_a_comparison_knows_its_truth(tmp_path, monkeypatch):
    def compared(command):
        a, b = (pq.read_table(path) for path in command[4:6])
        assert a.shape == b.shape == (100_000, 20)
        means = [sum(b[c].to_numpy().mean() for c in b.column_names) / 20 for b in (a, b)]
        assert means == pytest.approx([0.0, 1.2], abs=4.5 / 2e6**0.5)
        return json.dumps({"result": {"kl": {"estimate": 14.5, "standard_error": 0.02}}})

    monkeypatch.setattr(command_line, "_run", compared)
    (row,) = run(tmp_path, "apart")
    assert row.truth == pytest.approx(14.4)
    assert (row.estimate, row.status) == (14.5, "finished")
    assert read_rows(tmp_path / "rows.jsonl", CommandRow) == [row]
    assert run(tmp_path, "apart") == []


def test_a_failure_is_a_row(tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "_SECANT", (sys.executable, "-c", "raise SystemExit(2)"))
    (row,) = run(tmp_path, "help")
    assert row.status == "failed"
    assert "CalledProcessError" in row.traceback


def test_the_table_shows_ends_and_shares(tmp_path):
    assert command_section(tmp_path) == []
    for seed, seconds in enumerate((0.1, 0.3)):
        row = CommandRow("command-line", "help", "secant", seed, seconds, yardstick=0.8)
        keep_rows(tmp_path / "command-line.jsonl", [row])
    page = "\n".join(command_section(tmp_path))
    assert "| help | 0.10 … 0.30 | 0.25 | – | – | 2 |" in page
