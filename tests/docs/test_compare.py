"""The guide to comparisons, run as it stands."""

from tests.docs.guides import run


def test_the_guide_finds_the_column_that_moved_and_writes_its_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("compare.md")["found"]
    assert found.features[0].name == "income"
    # Unit normals 0.8 apart: KL = 0.32 and 69 % in common.
    assert abs(found.kl.estimate - 0.32) < 4.5 * found.kl.standard_error
    assert found.degree.name == "STRONG"
    assert found.verdict.split(":")[0] in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "income" in (tmp_path / "report.md").read_text(encoding="utf-8")
