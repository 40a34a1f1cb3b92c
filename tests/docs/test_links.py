"""Links between pages have targets, headings included; no network is used."""

import ast
import re
import unicodedata
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
GALLERY = DOCS / "figures/gallery"  # made by `make docs` from the examples


def text_of(page):
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def slug(heading):
    """As Markdown's table of contents makes them."""
    plain = unicodedata.normalize("NFKD", re.sub(r"[`*]|\$", "", heading)).encode("ascii", "ignore")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.decode()).strip().lower())


def headings(page):
    if page == DOCS / "gallery.md":
        codes = [path.read_text(encoding="utf-8") for path in ROOT.glob("examples/*.py")]
        return {slug(ast.get_docstring(ast.parse(code)).splitlines()[0]) for code in codes}
    return {slug(found) for found in re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)}


def is_there(target):
    if target.parent == GALLERY:
        return (ROOT / "examples" / target.name).with_suffix(".py").exists()
    return target.exists()


def broken(page, link):
    if link.startswith(("http://", "https://", "mailto:")):
        return False
    address, _, anchor = link.partition("#")
    target = (page.parent / address).resolve() if address else page
    if not is_there(target):
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in headings(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert [link for link in LINK.findall(text_of(page)) if broken(page, link)] == []


def test_a_broken_link_is_seen():
    page = DOCS / "index.md"
    assert broken(page, "nowhere.md")
    assert broken(page, "faq.md#nothing-of-the-kind")
    assert broken(page, "figures/gallery/nothing.png")
    assert not broken(page, "faq.md#which-sample-is-the-numerator")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_headings_hold_no_formula(page):
    # The table of contents shows its TeX.
    assert not re.findall(r"^#+ .*\$.*$", text_of(page), re.MULTILINE)


def test_doctests_are_in_a_section_that_is_shown_as_code():
    # "Example:" would start a note, in which prompts become quotations.
    codes = {p: p.read_text(encoding="utf-8") for p in (ROOT / "src").rglob("*.py")}
    assert [p for p, code in codes.items() if re.search(r"^ *Example:$", code, re.M)] == []
    assert sum("Examples:\n" in code for code in codes.values()) > 20


def navigated(part):
    for value in part.values() if isinstance(part, dict) else part:
        if isinstance(value, str):
            yield value
        else:
            yield from navigated(value)


def test_every_page_is_in_the_navigation_once():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = sorted(navigated(yaml.safe_load(settings)["nav"]))
    pages = (p.relative_to(DOCS) for p in DOCS.rglob("*.md") if "_generated" not in p.parts)
    assert named == sorted(map(str, pages))


def test_included_tables_exist():
    included = {n for p in PAGES for n in re.findall(r'^--8<-- "(.*)"$', text_of(p), re.MULTILINE)}
    assert len(included) >= 4
    assert included <= {path.name for path in (DOCS / "_generated").iterdir()}
