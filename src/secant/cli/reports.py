"""Reports of commands: one page, one summary, or a folder with both and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from secant.cli.session import Session, check_place

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


def check_report(output: Path | None) -> None:
    """Check that a report can be written, before the work starts."""
    if output is not None and _is_file(output):
        check_place(output)


def write_report(
    session: Session,
    output: Path | None,
    found: object,
    page: Callable[..., None],
    *,
    html: bool = True,
    figures: Callable[[Path, Any], Sequence[Path]] | None = None,
) -> list[str]:
    """Write the report that the output's name selects, and print where.

    Args:
        session: of the command.
        output: a file or a folder; None for no report.
        found: the result.
        page: writes it as an HTML file: (path, result, command).
        html: whether a folder gets the page.
        figures: writes them into a folder: (folder, result); returns the paths.
    """
    if output is None:
        session.say("-o FOLDER or -o PAGE.html writes a report.")
        return []
    from secant.report import write_markdown

    paths = [output]
    if not _is_file(output):
        output.mkdir(parents=True, exist_ok=True)
        paths = [*([output / "report.html"] if html else []), output / "summary.md"]
    for path in paths:
        if path.suffix.lower() == ".md":
            write_markdown(path, found)
        else:
            page(path, found, command=session.line)
    if figures is not None and not _is_file(output):
        paths += figures(output, found)
    session.show("\n".join(["", *(f"report: {path}" for path in paths)]))
    return [str(path) for path in paths]


def _is_file(output: Path) -> bool:
    """Whether the name is that of one file rather than a folder."""
    return output.suffix.lower() in (".html", ".htm", ".md")
