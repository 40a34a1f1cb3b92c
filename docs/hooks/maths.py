"""Formulas become MathML when the site is built, so that a page needs no script and no network."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>', re.S
)
# A function's name needs a space before its argument, unless that is in brackets.
_FUNCTION = re.compile(
    r"(?<!<msub>)(?<!<msup>)(?<!<munder>)(<m[io]>(?:log|exp|cos|sin|det|min|max|sup)</m[io]>)"
    r"(?!<mo[^>]*>(?:\(|\[|&#x00028;|&#x0005B;))"
)
_UNKNOWN = re.compile(r"<mi>\\[A-Za-z]+</mi>")


def on_page_content(content: str, page: Any, **_: object) -> str:  # noqa: ANN401, of mkdocs
    """The page with its formulas as MathML; a command that is not understood is an error."""

    def rendered(found: re.Match[str]) -> str:
        tex = html.unescape(found["tex"])
        display = "block" if found["open"] == "[" else "inline"
        formula = convert(tex, display=display)
        if unknown := _UNKNOWN.search(formula):
            raise ValueError(f"{page.file.src_uri}: {unknown[0]} in ${tex}$ has no MathML.")
        formula = _FUNCTION.sub(r'\1<mspace width="0.17em"/>', formula)
        return formula if display == "inline" else f'<div class="formula">{formula}</div>'

    return _FORMULA.sub(rendered, content)
