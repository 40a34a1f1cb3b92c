"""Reports of commands: one page, one summary, or a folder with both and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from secant.cli.output import check_place
from secant.cli.session import Session

ReportOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Report to write: a .html page, a .md summary, or a folder for both and figures.",
    ),
]
Html = Annotated[
    bool, typer.Option("--html/--no-html", help="Whether a folder gets the page report.html.")
]


@dataclass(frozen=True)
class Writers:
    """Writers of a result, each to a path.

    Attributes:
        page: one HTML file.
        summary: one Markdown file.
        figures: into a folder; returns what was written.
    """

    page: Callable[[Path], None]
    summary: Callable[[Path], None]
    figures: Callable[[Path], Sequence[Path]]


def check_report(output: Path | None) -> None:
    """Check that a report can be written, before the work starts."""
    if output is not None and _is_file(output):
        check_place(output)


def write_report(
    session: Session, output: Path | None, writers: Writers, *, html: bool = True
) -> list[str]:
    """Write the report that the output's name selects, and print where."""
    if output is None:
        session.say("-o FOLDER or -o PAGE.html writes a report.")
        return []
    written = _written(output, writers, html=html)
    session.show("\n".join(["", *(f"report: {path}" for path in written)]))
    return [str(path) for path in written]


def _written(output: Path, writers: Writers, *, html: bool) -> list[Path]:
    if _is_file(output):
        (writers.summary if output.suffix.lower() == ".md" else writers.page)(output)
        return [output]
    output.mkdir(parents=True, exist_ok=True)
    page, summary = output / "report.html", output / "summary.md"
    if html:
        writers.page(page)
    writers.summary(summary)
    return [*([page] if html else []), summary, *writers.figures(output)]


def _is_file(output: Path) -> bool:
    """Whether the name is that of one file rather than a folder."""
    return output.suffix.lower() in (".html", ".htm", ".md")
