"""docs/guides/monitor.md, run as written, and its numbers, compared with the result rows."""

import runpy
from pathlib import Path

from tests.docs.guides import run, text_of

ALARMS = Path(__file__).parents[2] / "benchmarks/comparison/alarms.py"


def test_the_guide_finds_the_change(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("monitor.md")["found"]
    assert found.windows[found.since].label == "2024-03-04"
    assert found.columns[0].name == "income"
    assert "has changed since 2024-03-04" in (tmp_path / "watch.html").read_text(encoding="utf-8")


def test_the_table_is_that_of_the_rows():
    assert runpy.run_path(str(ALARMS))["table"]() in text_of("monitor.md")


def test_at_most_one_stream_in_twenty_ever_raises_a_false_alarm():
    rows = [row for row in runpy.run_path(str(ALARMS))["kept"]() if row["change"] == "none"]
    assert len(rows) == 200
    assert sum(row["false"]["evidence"] is not None for row in rows) <= 10
