"""Pages escape what they are given and stand alone; figures are written."""

from pathlib import Path

import numpy as np

from secant.report.figures import Panel, histogram_figure, scatter_figure
from secant.report.page import Section, write_page


def test_figures_are_written(tmp_path: Path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=100)
    scatter_figure([Panel("a", values, values), Panel("b", values, -values)], tmp_path / "s.png")
    histogram_figure(values, values + 1, tmp_path / "h.png", title="t", labels=("a", "b"))
    for name in ("s.png", "h.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_page_escapes_hostile_text_and_asks_nothing_of_the_network(tmp_path: Path):
    hostile = "<script>alert(1)</script>"
    section = Section(hostile, hostile, ("a",), [(hostile,)])
    write_page(tmp_path / "p.html", hostile, [section], hostile)
    html = (tmp_path / "p.html").read_text()
    assert "<script" not in html
    assert "http" not in html
    assert html.count("&lt;script&gt;") == 6
