"""Tables of measurements on the pages and in the README are what the committed rows give."""

import re
import runpy
import shutil
from pathlib import Path

import pytest

from secant_bench import panels, paper_report
from secant_bench.density import density_report as densities
from secant_bench.performance import performance_report as performance
from secant_bench.report import write_report

ROOT = Path(__file__).parents[2]
FIGURES = (
    (panels, "draw_panels"),
    (paper_report, "_draw_trajectories"),
    (performance, "draw_ladders"),
    (performance, "draw_growth"),
)
TABLES = ["covariate-shift", "densities", "information", "methods"]
MEASURED = re.compile(r"\b(\d[\d,.]*|ten|twenty|thirty|sixty) (seconds|minutes|\w+ a second)\b")
WRITTEN = ["README.md", "docs/benchmarks.md", *(f"docs/_generated/{name}.md" for name in TABLES)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with all that `secant bench report` writes; only the pictures are left out."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "docs" / "figures").mkdir(parents=True)
    shutil.copy(ROOT / "README.md", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(densities, "densities_figure", lambda *_: "drawn")
        for module, name in FIGURES:
            patch.setattr(module, name, lambda *_, **__: None)
        write_report(ROOT / "benchmarks" / "results", readme=Path("README.md"))
    return folder


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_what_the_rows_give(written, name):
    expected = (written / name).read_bytes()
    assert (ROOT / name).read_bytes() == expected, f"run `make pages`: {name} is stale"


def test_no_row_is_of_an_older_list(written):
    assert "another version" not in (written / "docs/benchmarks.md").read_text(encoding="utf-8")


def test_nothing_that_is_written_is_left_out(written):
    pages = {str(path.relative_to(written)) for path in written.rglob("*.md")}
    assert pages == set(WRITTEN)
    # By scripts/draw_imports.py, see test_architecture.py, and by benchmarks/comparison/tables.py.
    others = {"docs/_generated/layers.md", "docs/_generated/comparison.md"}
    committed = {str(path.relative_to(ROOT)) for path in (ROOT / "docs/_generated").iterdir()}
    assert committed - others == {name for name in WRITTEN if "_generated" in name}


def test_tables_of_comparisons_are_what_their_rows_give(monkeypatch):
    folder = ROOT / "benchmarks" / "comparison"
    monkeypatch.syspath_prepend(str(folder))
    made = runpy.run_path(str(folder / "tables.py"))
    stale = "run `python benchmarks/comparison/tables.py`"
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), stale


def test_no_page_says_how_long_something_took():
    typed = {*(ROOT / "docs").rglob("*.md")} - {ROOT / name for name in WRITTEN}
    typed.add(ROOT / "README.md")
    said = {path.name: MEASURED.findall(path.read_text(encoding="utf-8")) for path in typed}
    assert {name: found for name, found in said.items() if found} == {}
    assert MEASURED.search("It takes about ten seconds.")
    assert MEASURED.search("It scores 1,000 rows a second.")
