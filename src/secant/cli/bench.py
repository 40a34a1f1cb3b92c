"""`secant bench`: the suites of benchmarks, how to run them and how to report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
from secant.cli.output import check_place
from secant.cli.session import Session

if TYPE_CHECKING:
    from secant.benchmarks.catalogue import AnyRow

__all__ = ["app"]

app = typer.Typer(help="List, run and report benchmarks.", no_args_is_help=True)

Results = Annotated[Path, typer.Option(help="Folder of the results files.")]
_RESULTS = Path("benchmarks/results")


@app.command("list")
@command("bench list")
def list_suites(session: Session) -> None:
    """Show the suites."""
    from secant.benchmarks.catalogue import listed

    suites = listed()
    session.show_table(
        ("suite", "fits a seed", "about"), [(s.name, str(s.entries), s.about) for s in suites]
    )
    session.finish({"suites": [vars(s) for s in suites]})


@app.command("run")
@command("bench run")
def run_suite(
    session: Session,
    suite: Annotated[str, typer.Argument(help="A name that `secant bench list` shows.")],
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Runs of each entry; else the suite's own number."),
    ] = None,
    part: Annotated[str, typer.Option(help="i/n: the share of one of n processes.")] = "0/1",
    match: Annotated[
        str, typer.Option(help="Only entries whose task or method contains this.")
    ] = "",
    results: Results = _RESULTS,
) -> None:
    """Run a suite, resuming where it stopped: rows in its results file are not run again."""
    from secant.benchmarks.catalogue import run_named
    from secant.benchmarks.products import Selection

    selection = Selection(seeds, _part(part), match)
    done = failed = 0
    for row in run_named(suite, results, selection):
        session.show(_line(row))
        if row.traceback:
            session.show(row.traceback)
        done, failed = done + 1, failed + bool(row.traceback)
    file = results / f"{suite}.jsonl"
    session.say(f"{done} rows, {failed} of them failed, in {file}")
    session.finish({"suite": suite, "file": str(file), "rows": done, "failed": failed})


@app.command("report")
@command("bench report")
def report(
    session: Session,
    results: Results = _RESULTS,
    page: Annotated[Path, typer.Option(help="The Markdown page to write.")] = Path(
        "docs/benchmarks.md"
    ),
    html: Annotated[Path | None, typer.Option(help="The same as one HTML file.")] = None,
) -> None:
    """Write docs/benchmarks.md and README's results from the rows."""
    from secant.benchmarks.html_page import write_benchmark_page
    from secant.benchmarks.report import write_report

    if html is not None:
        check_place(html)
    write_report(results, page)
    session.show(f"wrote {page} and the results in README.md")
    if html is not None:
        write_benchmark_page(html, page)
        session.show(f"report: {html}")
    session.finish({"page": str(page), "report": [] if html is None else [str(html)]})


def _part(text: str) -> tuple[int, int]:
    numbers = text.split("/")
    if len(numbers) != 2 or not all(n.isdecimal() for n in numbers):
        raise ValueError(f"--part must be i/n, such as 0/2; got {text!r}.")
    index, count = (int(n) for n in numbers)
    if not index < count:
        raise ValueError(f"--part i/n needs i < n, from 0/n on; got {text!r}.")
    return index, count


def _line(row: AnyRow) -> str:
    return f"{row.task:34s} {row.method:28s} seed {row.seed} {row.numbers} {row.status}"
