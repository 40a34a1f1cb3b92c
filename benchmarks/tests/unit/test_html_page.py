"""The benchmarks' page as HTML."""

from secant.report.blocks import Picture, Table, Text
from secant_bench.html_page import benchmark_page, write_benchmark_page

MARKDOWN = """# Benchmarks

Made by `secant bench report`.

## Core

*Squared error* of p_1,
row by row.

| task | error |
| --- | --- |
| a \\| b | 0.5 |
| <script>x</script> | **0.7** |

### By seconds

| task | seconds |
| --- | --- |
| a | 3 |

![Densities](plane.png)

![Absent](none.png)

## Machine

- 2 cores
"""


def test_headings_paragraphs_tables_and_pictures_are_kept(tmp_path):
    (tmp_path / "plane.png").write_bytes(b"\x89PNG")
    page = benchmark_page(MARKDOWN, tmp_path)
    assert page.about == "Made by secant bench report."
    assert [section.title for section in page.sections] == ["Core", "Machine"]
    text, first, second, picture = page.sections[0].blocks
    assert text == Text("Squared error of p_1, row by row.")
    assert isinstance(first, Table)
    assert [[cell.text for cell in row] for row in first.rows] == [
        ["a | b", "0.5"],
        ["<script>x</script>", "0.7"],
    ]
    assert (first.caption, second.caption) == ("Core", "By seconds")
    assert isinstance(picture, Picture)


def test_the_file_stands_alone_and_runs_nothing_of_its_cells(tmp_path):
    (tmp_path / "b.md").write_text(MARKDOWN, encoding="utf-8")
    write_benchmark_page(tmp_path / "b.html", tmp_path / "b.md")
    html = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;x" in html
    assert "<script>x" not in html
