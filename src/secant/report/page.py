"""A self-contained HTML page: text, tables and embedded pictures, no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment

__all__ = ["Section", "write_page"]

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
  :root { color-scheme: light dark; --ink: #22303c; --paper: #ffffff; --line: #d5dbe1; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e6ebf0; --paper: #14191f; --line: #3a444e; }
    img { background: #ffffff; border-radius: 6px; }
  }
  body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
         max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
  .table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
  th, td { text-align: right; padding: .35rem .7rem; border-bottom: 1px solid var(--line); }
  th:first-child, td:first-child { text-align: left; }
  img { max-width: 100%; height: auto; } footer { margin-top: 3rem; font-size: .85rem; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
{% for section in sections %}
<section>
<h2>{{ section.title }}</h2>
<p>{{ section.text }}</p>
{% if section.rows %}
<div class="table"><table>
<thead><tr>{% for cell in section.header %}<th scope="col">{{ cell }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in section.rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{% endif %}
{% if section.image %}
<img src="data:image/png;base64,{{ section.image_data }}" alt="{{ section.image_text }}">
{% endif %}
</section>
{% endfor %}
<footer>{{ footer }}</footer>
</body>
</html>
"""


@dataclass(frozen=True)
class Section:
    """A heading with text, an optional table and an optional picture."""

    title: str
    text: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    image: Path | None = None
    image_text: str = ""

    @property
    def image_data(self) -> str:
        """The picture in base64."""
        assert self.image is not None
        return base64.b64encode(self.image.read_bytes()).decode("ascii")


def write_page(path: Path, title: str, sections: Sequence[Section], footer: str) -> None:
    """Write one HTML file; every text is escaped."""
    template = Environment(autoescape=True).from_string(_TEMPLATE)
    html = template.render(title=title, sections=sections, footer=footer)
    path.write_text(html, encoding="utf-8")
