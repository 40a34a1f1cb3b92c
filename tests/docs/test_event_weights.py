"""The guide to weights of simulated events, run as it stands."""

from tests.docs.guides import measurements, run, text_of


def test_the_guide_closes_with_signed_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run("event-weights.md")
    found = names["found"]
    assert found.is_closed
    (mass,) = [column for column in found.columns if column.name == "mass"]
    assert mass.chi2_before > 3.0 * mass.freedom
    assert "angle" in (tmp_path / "closure.html").read_text(encoding="utf-8")
    assert 0.0 < names["error"].min() < 0.2


def test_the_table_is_that_of_the_rows(monkeypatch):
    found = measurements("reweighting.py", monkeypatch)["table"]()
    assert found in text_of("event-weights.md")
