"""`secant score`: score the rows of a table by a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from secant.cli.command import command
from secant.cli.inputs import patterns
from secant.cli.session import Session

if TYPE_CHECKING:
    from secant.deploy.scoring import Scored, Scorer


ModelInput = Annotated[Path, typer.Argument(metavar="M", help="Model file.")]
DataInput = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="Table with the model's columns, a folder of them, or a pattern."
    ),
]
TableOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="Table to write, in the format of its extension; or a folder."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Of a folder. local: in this process; dask: one worker process per core; tcp://…: a "
        "cluster. [default: dask where it is installed and there are several files]"
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", "-k", help="Columns to write beside the score; all by default."),
]
ScoreName = Annotated[
    str | None, typer.Option(help="Name of the new column; by default log_ratio or log_density.")
]
BatchRows = Annotated[int, typer.Option(min=1, max=1 << 31, help="Rows in memory at once.")]


def scoring(command_name: str, about: str, *, only_densities: bool = False) -> Callable[..., None]:
    """A command that scores tables, by models of densities only or by all."""

    def score(
        session: Session,
        model: ModelInput,
        data: DataInput,
        output: TableOutput,
        keep: Keep = None,
        name: ScoreName = None,
        batch_rows: BatchRows = 65_536,
        scheduler: Scheduler = None,
    ) -> None:
        _check_files(model, data)
        from secant.deploy.scoring import Scorer
        from secant.deploy.scoring.folders import is_many

        scorer = Scorer.loaded(model)
        if only_densities and scorer.quantity != "log_density":
            raise ValueError(
                f"{model} is a model of a ratio, not of a density; use `secant score`."
            )
        asked = _ScoreOptions(model, data, output, keep, name, batch_rows, scheduler)
        (_score_folder if is_many(data) else _score_table)(session, scorer, asked)

    score.__doc__ = about
    return command(command_name)(score)


def _check_files(model: Path, data: Path) -> None:
    """Refuse files that are not there or cannot be read, before JAX is imported."""
    from secant.tables.files import column_names

    if not model.exists():
        raise ValueError(f"cannot load {model}: there is no such file.")
    if data.suffix and not data.is_dir() and not any(sign in str(data) for sign in "*?["):
        column_names(data)


class _ScoreOptions(NamedTuple):
    """The options."""

    model: Path
    data: Path
    output: Path
    keep: list[str] | None
    name: str | None
    batch_rows: int
    scheduler: str | None


def _score_table(session: Session, scorer: Scorer, asked: _ScoreOptions) -> None:
    from secant.deploy.scoring import score_table
    from secant.tables.files import column_names

    if asked.scheduler not in (None, "local"):
        raise ValueError(f"--scheduler is for a folder of tables; {asked.data} is one table.")
    found = score_table(
        scorer,
        asked.data,
        asked.output,
        keep=patterns(asked.keep, column_names(asked.data)),
        name=asked.name,
        batch_rows=asked.batch_rows,
        seed=session.seed,
    )
    session.show(f"{_summary(found)}\ntable: {asked.output}")
    session.finish({"output": str(asked.output), "quantity": scorer.quantity, **vars(found)})


def _score_folder(session: Session, scorer: Scorer, asked: _ScoreOptions) -> None:
    from secant.deploy.scoring import score_folder
    from secant.deploy.scoring.folders import table_files
    from secant.tables.files import column_names

    # A comma may be part of a column's name, so patterns are split by the first table's names.
    keep = asked.keep and patterns(asked.keep, column_names(table_files(asked.data)[0]))
    with _bar(session) as report:
        found = score_folder(
            asked.model,
            asked.data,
            asked.output,
            keep=keep,
            name=asked.name,
            batch_rows=asked.batch_rows,
            seed=session.seed,
            scheduler=asked.scheduler,
            report=report,
        )
    counts = f"{found.files} files, {found.skipped} of them done before"
    session.show(f"{counts}\n{_summary(found.total)}\nfolder: {asked.output}")
    session.finish(
        {
            "output": str(asked.output),
            "quantity": scorer.quantity,
            **vars(found.total),
            "files": found.files,
            "skipped": found.skipped,
            "failures": dict(found.failures),
        }
    )
    if found.failures:
        lines = [f"  {name}: {error}" for name, error in found.failures.items()]
        failed = f"{len(lines)} of {found.files} files could not be scored; the others are written."
        raise ValueError("\n".join([failed, *lines]))


@contextmanager
def _bar(session: Session) -> Iterator[Callable[[int, int], None] | None]:
    """A bar of files on a terminal, nothing elsewhere."""
    if session.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scoring", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _summary(found: Scored) -> str:
    empty = f", {found.rows - found.scored:,} without a score" if found.scored < found.rows else ""
    return (
        f"{found.rows:,} rows{empty}: {found.name} has mean {found.mean:.4f} nats, "
        f"from {found.least:.4f} to {found.most:.4f}"
    )


score = scoring(
    "score",
    """Write the log ratio or log density of every row.

    The output has the table's columns and the score. Tables are read and written in batches, so
    they may be larger than memory. A row that a model fitted with `--missing drop` cannot score has
    an empty score. The tables of a folder are scored in parallel; the same command resumes a
    stopped run.
    """,
)
