"""`secant bench`: the suites of benchmarks, how to run them and how to report."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import typer

from secant.cli.command import command
from secant.cli.session import JSON, Session, check_place

if TYPE_CHECKING:
    from secant_bench.rows import Run
    from secant_bench.sweeps import Sweep

__all__ = ["app"]

app = typer.Typer(help="List, run and report benchmarks.", no_args_is_help=True)

Results = Annotated[Path, typer.Option(help="Folder of the results files.")]
_RESULTS = Path("benchmarks/results")
_Choice = TypeVar("_Choice", bound=StrEnum)


@app.command("list")
@command("bench list")
def list_suites(session: Session) -> None:
    """Show the suites."""
    from secant_bench.listing import read_listing

    found = read_listing()
    session.show_table(
        ("suite", "version", "fits per seed", "about"),
        [(s["name"], str(s["version"]), str(s["entries"]), s["about"]) for s in found],
    )
    session.finish({"suites": [*found]})


@app.command("run")
@command("bench run")
def run_suite(
    session: Session,
    suite: Annotated[
        str,
        typer.Argument(
            help="A name listed by `secant bench list`, a common prefix of several names "
            "(`performance`), or an import path `package.module:name`."
        ),
    ],
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Runs of each entry; by default the suite's number."),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Only these methods, separated by ';'. `package.module:Class` adds your own."
        ),
    ] = "",
    match: Annotated[
        str, typer.Option(help="Only entries whose task or method contains this.")
    ] = "",
    budget: Annotated[
        str,
        typer.Option(help="Computing budget of a paper-… suite: small, standard or paper."),
    ] = "standard",
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="local: in this process; dask: one worker process per core; tcp://…: a cluster. "
            "[default: dask if it is installed and the suite does not measure time]"
        ),
    ] = None,
    again: Annotated[str | None, typer.Option(help="Repeat finished runs: failed, or all.")] = None,
    results: Results = _RESULTS,
) -> None:
    """Run a suite, or resume it: runs with rows in its results file are not repeated."""
    from secant_bench.catalogue import family

    asked = _RunOptions(seeds, methods, match, budget, again)
    sweeps = [_sweep(name, asked, results) for name in family(suite)]
    rows, failed = map(sum, zip(*(_swept(session, s, scheduler) for s in sweeps), strict=True))
    files: list[JSON] = [str(sweep.path) for sweep in sweeps]
    session.finish({"suite": suite, "files": files, "rows": rows, "failed": failed})


def _swept(session: Session, sweep: Sweep, scheduler: str | None) -> tuple[int, int]:
    """Run what is missing; return the numbers of new rows and of failures among them."""
    from secant_bench.schedulers import scheduler_named

    chosen = scheduler_named(scheduler, alone=sweep.recipe.build().alone)
    session.say(f"{len(sweep.jobs())} runs to make, {chosen}; their rows go to {sweep.path}")
    done = failed = 0
    for row in sweep.run(chosen):
        session.show(_line(row))
        if row.traceback:
            session.show(row.traceback)
        done, failed = done + 1, failed + bool(row.traceback)
    session.say(f"{done} rows, {failed} of them failed, in {sweep.path}")
    return done, failed


class _RunOptions(NamedTuple):
    """The command-line options that select runs."""

    seeds: int | None
    methods: str
    match: str
    budget: str
    again: str | None


def _sweep(suite: str, asked: _RunOptions, results: Path) -> Sweep:
    from secant_bench.benchmark import Selection
    from secant_bench.budgets import Budget
    from secant_bench.catalogue import Recipe
    from secant_bench.plugins import is_import_name
    from secant_bench.sweeps import Again, Sweep

    names = [name.strip() for name in asked.methods.split(";") if name.strip()]
    recipe = Recipe(
        suite,
        _choice(Budget, "--budget", asked.budget),
        tuple(name for name in names if is_import_name(name)),
    )
    known = {method for _, method in recipe.build().pairs}
    unknown = [name for name in names if name not in known]
    if unknown:
        listing = "; ".join(sorted(known))
        raise ValueError(f"{suite} has no method {unknown[0]!r}; it has {listing}.")
    again = None if asked.again is None else _choice(Again, "--again", asked.again)
    return Sweep(recipe, results, Selection(asked.seeds, asked.match, frozenset(names)), again)


def _choice(kind: type[_Choice], option: str, value: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        names = " or ".join(kind)
        raise ValueError(f"{option} must be {names}; got {value!r}.") from None


@app.command("report")
@command("bench report")
def report(
    session: Session,
    results: Results = _RESULTS,
    page: Annotated[Path, typer.Option(help="The Markdown page to write.")] = Path(
        "docs/benchmarks.md"
    ),
    html: Annotated[Path | None, typer.Option(help="Also write the page as one HTML file.")] = None,
    readme: Annotated[
        Path | None, typer.Option(help="A README whose table of results is updated.")
    ] = None,
) -> None:
    """Write docs/benchmarks.md from the rows."""
    from secant_bench.html_page import write_benchmark_page
    from secant_bench.report import write_report

    if html is not None:
        check_place(html)
    write_report(results, page, readme)
    session.show(f"wrote {page}" if readme is None else f"wrote {page} and the results in {readme}")
    if html is not None:
        write_benchmark_page(html, page)
        session.show(f"report: {html}")
    session.finish({"page": str(page), "report": [] if html is None else [str(html)]})


def _line(row: Run) -> str:
    return f"{row.task:34s} {row.method:28s} seed {row.seed} {row.numbers} {row.status}"
