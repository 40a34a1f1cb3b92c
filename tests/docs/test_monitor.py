"""docs/guides/monitor.md, run as written, and its numbers, compared with the result rows."""

from tests.docs.guides import measurements, run, text_of


def test_the_guide_finds_the_change(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("monitor.md")["found"]
    assert found.windows[found.since].label == "2024-03-04"
    assert found.columns[0].name == "income"
    assert "has changed since 2024-03-04" in (tmp_path / "watch.html").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_rows(monkeypatch):
    for name in ("alarms.py", "alarms_peers.py"):
        assert measurements(name, monkeypatch)["table"]() in text_of("monitor.md")


def test_at_most_one_stream_in_twenty_ever_raises_a_false_alarm(monkeypatch):
    alarms = measurements("alarms.py", monkeypatch)
    rows = [row for row in alarms["kept"](alarms["RESULTS"]) if row["change"] == "none"]
    assert len(rows) == 200
    assert sum(row["false"]["evidence"] is not None for row in rows) <= 10
