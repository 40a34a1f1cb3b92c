"""The pre-build step: Markdown in, Markdown out."""

import re
import runpy
from pathlib import Path

import pytest
from tests.docs.test_links import DOCS, ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts/build_docs.py"))
converted, with_links = SCRIPT["converted"], SCRIPT["with_links"]


def test_tags_and_citations_become_relative_links():
    assert with_links("by (S1, V1)", "guides/density.md") == (
        "by ([S1](../methods/secant.md#S1), [V1](../methods/velocity-form.md#V1))"
    )
    assert with_links("as in [@chen2025diffusion]", "errata.md") == (
        r"as in \[[Chen et al. 2025](references.md#chen2025diffusion)\]"
    )


def test_code_links_and_headings_are_left_alone():
    for text in ("`(S1)`", "[(S1)](methods/secant.md)", "## By (S1)", "```python\nf((S1))\n```"):
        assert with_links(text, "faq.md") == text


def test_a_tag_that_nothing_defines_is_an_error():
    with pytest.raises(KeyError):
        with_links("by (Y9)", "faq.md")


def test_definitions_are_anchors_in_the_methods_only():
    assert converted("**(S1)** is", "methods/secant.md") == "**(S1)**{#S1} is"
    assert converted("**(S1)** is", "faq.md") == "**(S1)** is"


def test_includes_gallery_and_bibliography_are_filled_in():
    table = (DOCS / "_generated/layers.md").read_text(encoding="utf-8").strip()
    included = converted('--8<-- "layers.md"', "architecture.md")
    assert len(included.splitlines()) == len(table.splitlines())
    assert '<a id="chen2025diffusion"></a>' in converted("<!-- bibliography -->", "references.md")
    gallery = converted("<!-- gallery -->", "gallery.md")
    assert gallery.count("figures/gallery/") == len(list(ROOT.glob("examples/*.py")))


def test_formulas_become_mathml_that_markdown_leaves_alone():
    pytest.importorskip("latex2mathml", reason="the extra docs is not installed")
    inline = converted("of $a_i * b_i$ and `$HOME`", "faq.md")
    assert inline.startswith('of <span class="inline-formula"><math')
    assert inline.endswith("and `$HOME`")
    assert not re.search(r">[^<&]*[*_|][^<&]*<", inline)
    assert converted("$$x$$", "faq.md").startswith('<span class="formula"><math')
    with pytest.raises(ValueError, match="has no MathML"):
        converted(r"$\nosuchcommand x$", "faq.md")


def test_every_page_is_written(tmp_path):
    pytest.importorskip("latex2mathml", reason="the extra docs is not installed")
    SCRIPT["build"](DOCS, tmp_path / "docs")
    written = {p.relative_to(tmp_path / "docs") for p in (tmp_path / "docs").rglob("*.md")}
    pages = {p.relative_to(DOCS) for p in DOCS.rglob("*.md") if "_generated" not in p.parts}
    assert written == pages
    for path in written:
        text = (tmp_path / "docs" / path).read_text(encoding="utf-8")
        assert "--8<--" not in text
        assert not re.search(r"(?<!`)\$\$", text)


def test_a_page_that_loads_from_elsewhere_is_found(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<img src="figures/a.png"><a href="https://example.org">x</a>')
    assert SCRIPT["remote_loads"](tmp_path) == []
    page.write_text('<script src="https://example.org/a.js"></script>')
    assert len(SCRIPT["remote_loads"](Path(tmp_path))) == 1
