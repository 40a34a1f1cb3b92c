"""The benchmarks' Markdown page as one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from secant._host.provenance import versions
from secant.report.blocks import Block, Picture, Section, Text
from secant.report.page import Page, made_by, write_page
from secant.report.tables import text_table

__all__ = ["benchmark_page", "write_benchmark_page"]

_PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<path>[^)]+)\)")
_MARKS = re.compile(r"[*`]|(?<!\w)_|_(?!\w)")


def write_benchmark_page(path: Path, markdown: Path) -> None:
    """Write the Markdown page of `write_report` as HTML with embedded pictures."""
    text = markdown.read_text(encoding="utf-8")
    write_page(path, benchmark_page(text, markdown.parent))


def benchmark_page(markdown: str, folder: Path) -> Page:
    """The page as blocks, before layout.

    Args:
        markdown: headings, paragraphs, tables and pictures, as `write_report` writes them.
        folder: to which the paths of pictures are relative.
    """
    preamble, *parts = re.split(r"^## ", markdown, flags=re.MULTILINE)
    about = _plain(preamble.partition("\n")[2])
    sections = [_section(part, folder) for part in parts]
    return Page(
        "Benchmarks",
        sections,
        eyebrow="secant · benchmarks",
        about=about,
        footer=made_by(versions()["secant"]),
    )


def _section(part: str, folder: Path) -> Section:
    title, _, body = part.partition("\n")
    return Section(_plain(title), list(_blocks(body, _plain(title), folder)))


def _blocks(body: str, title: str, folder: Path) -> Iterator[Block]:
    """Paragraphs, tables and pictures; a table's caption is the heading above it."""
    caption = title
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        lines = paragraph.splitlines()
        if not lines:
            continue
        picture = _PICTURE.fullmatch(paragraph.strip())
        if lines[0].startswith("### "):
            caption = _plain(lines[0][4:])
        elif lines[0].startswith("|"):
            header, _, *rows = (_cells(line) for line in lines)
            yield text_table(caption, header, rows)
        elif picture is not None:
            if (folder / picture["path"]).is_file():
                yield Picture(folder / picture["path"], picture["text"])
        else:
            yield Text(_plain(paragraph))


def _cells(line: str) -> Sequence[str]:
    return [_plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _plain(text: str) -> str:
    """The text on one line, without Markdown markup."""
    return " ".join(_MARKS.sub("", text).replace("\\|", "|").split())
