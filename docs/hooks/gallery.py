"""The gallery: every example with its docstring, its picture and its code."""

import ast
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MARK = "<!-- gallery -->"


def on_page_markdown(markdown: str, **_: object) -> str:
    """The examples, where a page asks for them."""
    if _MARK not in markdown:
        return markdown
    return markdown.replace(_MARK, "\n\n".join(map(_shown, sorted(_ROOT.glob("examples/*.py")))))


def _shown(path: Path) -> str:
    code = path.read_text(encoding="utf-8")
    title, _, text = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
    picture = f"![{title}](figures/gallery/{path.stem}.png)"
    body = code.split('"""', 2)[2].strip()
    return f"## {title.rstrip('.')}\n\n{text.strip()}\n\n{picture}\n\n```python\n{body}\n```"
