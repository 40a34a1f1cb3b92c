"""Formulas cited in code are derived in the docs, and what the docs cite exists."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
TAG = r"[A-Z]\d"
CITED_TAG = re.compile(rf"(?<!\w)\(({TAG}(?:,\s*{TAG})*)\)")
DEFINED_TAG = re.compile(rf"\*\*\(({TAG})\)\*\*")
CITATION = re.compile(r"\[(@[^\]]+)\]")
BIB_KEY = re.compile(r"^@\w+\{([^,\s]+),", re.MULTILINE)


def cited_tags(text):
    return {tag for group in CITED_TAG.findall(text) for tag in re.split(r",\s*", group)}


def citations(text):
    return {key.strip().removeprefix("@") for g in CITATION.findall(text) for key in g.split(";")}


def texts(folder, pattern):
    return {path.relative_to(ROOT): path.read_text("utf-8") for path in folder.rglob(pattern)}


def defined_tags():
    pages = texts(ROOT / "docs" / "methods", "*.md").values()
    return Counter(tag for page in pages for tag in DEFINED_TAG.findall(page))


def test_every_tag_cited_in_the_code_is_defined_in_the_methods():
    cited = {
        path: cited_tags(text) for path, text in texts(ROOT / "src" / "secant", "*.py").items()
    }
    assert set().union(*cited.values()), (
        "no tag found in src/secant: the pattern or the folder moved"
    )
    defined = defined_tags()
    assert {
        path: tags - defined.keys() for path, tags in cited.items() if tags - defined.keys()
    } == {}


def test_every_tag_cited_in_the_docs_is_defined_in_the_methods():
    cited = {path: cited_tags(text) for path, text in texts(ROOT / "docs", "*.md").items()}
    assert set().union(*cited.values())
    defined = defined_tags()
    assert {
        path: tags - defined.keys() for path, tags in cited.items() if tags - defined.keys()
    } == {}


def test_each_tag_is_defined_once():
    defined = defined_tags()
    assert defined
    assert {tag: times for tag, times in defined.items() if times != 1} == {}


def test_every_citation_is_in_the_bibliography():
    keys = Counter(BIB_KEY.findall((ROOT / "src" / "secant" / "references.bib").read_text("utf-8")))
    pages = [*texts(ROOT / "docs", "*.md").values(), *texts(ROOT / "src", "*.py").values()]
    cited = set().union(*map(citations, pages))
    assert cited
    assert cited - keys.keys() == set()
    assert {key: times for key, times in keys.items() if times != 1} == {}


def test_the_patterns_see_what_they_should():
    assert cited_tags("the identity (S1), the losses (V1, V2), not f(X1)") == {"S1", "V1", "V2"}
    assert DEFINED_TAG.findall("**(S1)** and **(C1)** but not (V1)") == ["S1", "C1"]
    assert citations("as in [@a2020b; @c2021d], see [x](y.md)") == {"a2020b", "c2021d"}
