"""A self-contained HTML page from blocks: no network, one style, every text escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from secant._host.atomic_files import write_atomically
from secant.report.blocks import Code, Columns, Pairs, Section

__all__ = [
    "Page",
    "Section",
    "made_by",
    "rendered",
    "reproduction",
    "script",
    "write_page",
    "write_text",
]


@dataclass(frozen=True)
class Page:
    """A page before it is laid out.

    Attributes:
        title: its headline.
        sections: in order.
        eyebrow: a line above the title, the kind of page.
        headline: the first words of the verdict.
        lead: the rest of that sentence.
        tone: colour of the verdict: "plain", "good", "mild", "strong" or "apart".
        about: the data.
        footer: version and date.
    """

    title: str
    sections: Sequence[Section]
    eyebrow: str = "secant"
    headline: str = ""
    lead: str = ""
    tone: str = "plain"
    about: str = ""
    footer: str = ""


def rendered(page: Page) -> str:
    """The page as HTML."""
    style, script = _part("style.css"), _part("sort.js")
    return (
        _environment()
        .get_template("page.html.j2")
        .render(page=page, style=Markup(style), script=Markup(script), policy=_policy(script))
    )


def write_page(path: Path | str, page: Page) -> None:
    """Write one HTML file."""
    write_text(path, rendered(page))


def write_text(path: Path | str, text: str) -> None:
    """Write a file atomically."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, text.encode("utf-8"))


def made_by(version: str) -> str:
    """The footer: version and date."""
    return f"Written by secant {version} on {datetime.now(UTC):%d %B %Y}."


def reproduction(
    command: str | None,
    settings: Sequence[tuple[str, str]],
    versions: Mapping[str, str],
    python: Code | None = None,
) -> Section:
    """The section that ends a page: the command, the same in Python, settings and versions."""
    shell = None if command is None else Code(command, "In a shell")
    codes = [code for code in (shell, python) if code is not None]
    facts = Columns([Pairs(settings), Pairs(list(versions.items()))])
    return Section("Settings and how to reproduce", [*codes, facts], "Reproduce")


def script(call: str, writer: str, label: str) -> Code:
    """The lines of Python that reproduce a result and write its page."""
    lines = [
        "import secant",
        f"from secant.report import {writer}",
        "",
        f"found = {call}",
        "print(found)",
        f'{writer}("report.html", found)',
    ]
    return Code("\n".join(lines), label)


def _policy(script: str) -> str:
    """A Content Security Policy: nothing is loaded, and only the script of the page may run."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("secant.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _part(name: str) -> str:
    return files("secant.report").joinpath("templates", name).read_text(encoding="utf-8")
