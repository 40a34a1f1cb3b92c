"""Tags and citations become links: (S1) to its definition, [@key] to the bibliography."""

import html
import re
from typing import Any

from mkdocs.utils import get_relative_url

from secant.citing import works

_TAG = r"[A-Z]\d"
_DEFINED = re.compile(rf"\*\*\(({_TAG})\)\*\*")
_DEFINITION = re.compile(rf"<strong>\(({_TAG})\)</strong>")
_CITED_TAGS = re.compile(rf"(?<!\w)\(({_TAG}(?:,\s*{_TAG})*)\)")
_CITATION = re.compile(r"\[(@[^\]<]+)\]")
_AS_IS = re.compile(
    r"(<pre.*?</pre>|<code.*?</code>|<a .*?</a>|<h\d.*?</h\d>|<math.*?</math>"
    r"|<strong id=.*?</strong>)",
    re.S,
)
_LIST = "<!-- bibliography -->"
_homes: dict[str, str] = {}  # the address of the page that defines a tag


def on_files(files: Any, **_: object) -> None:  # noqa: ANN401, of mkdocs
    """Learn which page defines which tag."""
    _homes.clear()
    for file in files.documentation_pages():
        if file.src_uri.startswith("methods/"):
            _homes.update(dict.fromkeys(_DEFINED.findall(file.content_string), file.url))


def on_page_markdown(markdown: str, **_: object) -> str:
    """The list of references, where a page asks for it."""
    return markdown.replace(_LIST, "\n".join(map(_listed, sorted(works(), key=_order))))


def on_page_content(content: str, page: Any, **_: object) -> str:  # noqa: ANN401
    """The page with its links."""
    if page.file.src_uri.startswith("methods/"):
        content = _DEFINITION.sub(r'<strong id="\1">(\1)</strong>', content)
    pieces = _AS_IS.split(content)
    pieces[::2] = [_linked(piece, page.url) for piece in pieces[::2]]
    return "".join(pieces)


def _linked(text: str, here: str) -> str:
    text = _CITED_TAGS.sub(lambda found: f"({_each(found[1], ',', _tag, here)})", text)
    return _CITATION.sub(lambda found: f"[{_each(found[1], ';', _citation, here)}]", text)


def _each(names: str, mark: str, link: Any, here: str) -> str:  # noqa: ANN401
    return f"{mark} ".join(link(name.strip(), here) for name in names.split(mark))


def _tag(tag: str, here: str) -> str:
    return f'<a href="{get_relative_url(_homes[tag], here)}#{tag}">{tag}</a>'


def _citation(key: str, here: str) -> str:
    work = works()[key.removeprefix("@")]
    address = get_relative_url("references.html", here)
    return f'<a href="{address}#{key[1:]}">{_short(work)}</a>'


def _listed(key: str) -> str:
    work = works()[key]
    where = _plain(work.get("journal") or work.get("booktitle") or work.get("publisher", ""))
    note = f", {work['note']}" if "note" in work else ""
    authors = _plain(work["author"].replace(" and ", "; "))
    title = f"{authors} ({work['year']}). *{_plain(work['title'])}*"
    return f'- <span id="{key}"></span>{title}. {where}{note}.'


def _order(key: str) -> tuple[str, str]:
    return _plain(works()[key]["author"]).casefold(), works()[key]["year"]


def _short(work: dict[str, str]) -> str:
    authors = [_plain(name).partition(",")[0] for name in work["author"].split(" and ")]
    who = authors[0] if len(authors) == 1 else " and ".join(authors)
    return html.escape(f"{who if len(authors) < 3 else authors[0] + ' et al.'} {work['year']}")


_LETTERS = {'{\\"a}': "ä", '{\\"o}': "ö", '{\\"u}': "ü", "{\\'e}": "é", "{\\.z}": "ż", "{\\l}": "ł"}


def _plain(text: str) -> str:
    for tex, letter in _LETTERS.items():
        text = text.replace(tex, letter)
    return re.sub(r"[{}]", "", text).replace("--", "–").replace("\\&", "&")
