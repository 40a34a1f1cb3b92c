"""Write the pages of docs/ as plain Markdown to build/docs, ready for any site generator.

Includes, the gallery and the bibliography are filled in. Tags such as (S1) and citations such as
[@key] become links. Formulas become MathML, so that pages need no script and no network.

    python scripts/build_docs.py              write build/docs
    python scripts/build_docs.py --check      check that the pages of site/ load nothing remote
"""

import ast
import html
import os
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path, PurePosixPath

from secant.citing import works

ROOT = Path(__file__).parents[1]
DOCS, BUILT, SITE = ROOT / "docs", ROOT / "build/docs", ROOT / "site"

_TAG = r"[A-Z]\d"
_DEFINED_TAG = re.compile(rf"\*\*\(({_TAG})\)\*\*")
_CITED_TAGS = re.compile(rf"(?<![\w*])\(({_TAG}(?:,\s*{_TAG})*)\)")
_CITATION = re.compile(r"\[(@[^\]]+)\]")
_INCLUDE = re.compile(r'^--8<-- "(.*)"$', re.MULTILINE)
_CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(
    r"\$\$(?P<block>.+?)\$\$|\\\[(?P<bracket>.+?)\\\]|\\\((?P<inline>.+?)\\\)"
    r"|\$(?!\s)(?P<dollar>[^$]+?)(?<!\s)\$",
    re.DOTALL,
)
_UNLINKED = re.compile(
    rf"({_CODE.pattern[1:-1]}|<math.*?</math>|!?\[[^\]]*\]\([^)]*\)|^#+ .*?$)",
    re.MULTILINE | re.DOTALL,
)
# A function's name needs a space before its argument, unless that is in brackets.
_FUNCTION = re.compile(
    r"(?<!<msub>)(?<!<msup>)(?<!<munder>)(<m[io]>(?:log|exp|cos|sin|det|min|max|sup)</m[io]>)"
    r"(?!<mo[^>]*>(?:\(|\[|&#x00028;|&#x0005B;))"
)
_UNKNOWN_COMMAND = re.compile(r"<mi>\\[A-Za-z]+</mi>")
_REMOTE = re.compile(
    r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"[^>]*>'
)
_LETTERS = {'{\\"a}': "ä", '{\\"o}': "ö", '{\\"u}': "ü", "{\\'e}": "é", "{\\.z}": "ż", "{\\l}": "ł"}


def build(docs: Path = DOCS, built: Path = BUILT) -> None:
    """Write every page and copy everything else."""
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(docs, built, ignore=shutil.ignore_patterns("_generated", "*.md"))
    for path in docs.rglob("*.md"):
        page = path.relative_to(docs)
        if "_generated" not in page.parts:
            text = converted(path.read_text(encoding="utf-8"), page.as_posix())
            (built / page).write_text(text, encoding="utf-8")


def converted(text: str, page: str) -> str:
    """A page as plain Markdown.

    Args:
        text: its source.
        page: its path within docs/, from which links are relative.
    """
    text = _INCLUDE.sub(lambda found: _read(DOCS / "_generated" / found[1]), text)
    text = text.replace("<!-- gallery -->", "\n\n".join(map(_example, _examples())))
    text = text.replace(
        "<!-- bibliography -->", "\n".join(map(_reference, sorted(works(), key=_order)))
    )
    text = _outside(_CODE, text, lambda prose: _FORMULA.sub(_mathml, prose))
    if page.startswith("methods/"):
        text = _DEFINED_TAG.sub(r"**(\1)**{#\1}", text)
    return with_links(text, page)


def with_links(text: str, page: str) -> str:
    """Text with links from tags to their definitions and from citations to the references."""
    return _outside(_UNLINKED, text, lambda prose: _linked(prose, page))


def remote_loads(site: Path = SITE) -> list[str]:
    """Elements of built pages that would load something from another host."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    return [
        f"{path}: {found[0]}" for path, text in pages.items() for found in _REMOTE.finditer(text)
    ]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def _outside(protected: re.Pattern[str], text: str, change: Callable[[str], str]) -> str:
    pieces = protected.split(text)
    pieces[::2] = map(change, pieces[::2])
    return "".join(pieces)


def _examples() -> list[Path]:
    return sorted(ROOT.glob("examples/*.py"))


def _example(path: Path) -> str:
    code = path.read_text(encoding="utf-8")
    title, _, text = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
    picture = f"![{title}](figures/gallery/{path.stem}.png)"
    body = code.split('"""', 2)[2].strip()
    return f"## {title.rstrip('.')}\n\n{text.strip()}\n\n{picture}\n\n```python\n{body}\n```"


def _mathml(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    block = found["block"] or found["bracket"]
    tex = html.unescape(block or found["inline"] or found["dollar"]).replace("\n", " ")
    formula = convert(tex, display="block" if block else "inline")
    if unknown := _UNKNOWN_COMMAND.search(formula):
        raise ValueError(f"{unknown[0]} in ${tex}$ has no MathML.")
    formula = _FUNCTION.sub(r'\1<mspace width="0.17em"/>', formula)
    formula = re.sub(r">([^<]+)<", lambda text: f">{_without_markdown(text[1])}<", formula)
    # A paragraph that begins with <math> would be taken for a block of HTML.
    return f'<span class="{"formula" if block else "inline-formula"}">{formula}</span>'


def _without_markdown(text: str) -> str:
    return re.sub(r"[\\`*_{}\[\]|~$]", lambda found: f"&#{ord(found[0])};", text)


def _linked(text: str, page: str) -> str:
    text = _CITATION.sub(lambda found: rf"\[{_each(found[1], ';', _citation, page)}\]", text)
    return _CITED_TAGS.sub(lambda found: f"({_each(found[1], ',', _definition, page)})", text)


def _each(names: str, mark: str, link: Callable[[str, str], str], page: str) -> str:
    return f"{mark} ".join(link(name.strip(), page) for name in names.split(mark))


def _definition(tag: str, page: str) -> str:
    return f"[{tag}]({_relative(_homes()[tag], page)}#{tag})"


def _citation(key: str, page: str) -> str:
    key = key.removeprefix("@")
    return f"[{_short(works()[key])}]({_relative('references.md', page)}#{key})"


def _relative(target: str, page: str) -> str:
    return PurePosixPath(os.path.relpath(target, PurePosixPath(page).parent)).as_posix()


@cache
def _homes() -> dict[str, str]:
    """The page that defines each tag."""
    pages = {p: p.read_text(encoding="utf-8") for p in DOCS.glob("methods/*.md")}
    return {
        tag: f"methods/{p.name}" for p, text in pages.items() for tag in _DEFINED_TAG.findall(text)
    }


def _reference(key: str) -> str:
    work = works()[key]
    where = _plain(work.get("journal") or work.get("booktitle") or work.get("publisher", ""))
    note = f", {work['note']}" if "note" in work else ""
    authors = _plain(work["author"].replace(" and ", "; "))
    title = f"{authors} ({work['year']}). *{_plain(work['title'])}*"
    return f'- <a id="{key}"></a>{title}. {where}{note}.'


def _order(key: str) -> tuple[str, str]:
    return _plain(works()[key]["author"]).casefold(), works()[key]["year"]


def _short(work: dict[str, str]) -> str:
    authors = [_plain(name).partition(",")[0] for name in work["author"].split(" and ")]
    who = " and ".join(authors) if len(authors) < 3 else f"{authors[0]} et al."
    return f"{who} {work['year']}"


def _plain(text: str) -> str:
    for tex, letter in _LETTERS.items():
        text = text.replace(tex, letter)
    return re.sub(r"[{}]", "", text).replace("--", "–").replace("\\&", "&")


def main(arguments: list[str]) -> None:
    """Build the pages, or check the site."""
    if arguments != ["--check"]:
        build()
    elif found := remote_loads():
        sys.exit("Pages must not load from other hosts:\n" + "\n".join(found))


if __name__ == "__main__":
    main(sys.argv[1:])
