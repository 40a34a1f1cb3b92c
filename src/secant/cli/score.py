"""`secant score`: what a model says about every row of a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
from secant.cli.inputs import patterns
from secant.cli.session import Session

if TYPE_CHECKING:
    from secant.io.scoring import Scored

__all__ = ["ModelInput", "score", "scoring"]

ModelInput = Annotated[Path, typer.Argument(metavar="M", help="Model file.")]
DataInput = Annotated[Path, typer.Argument(metavar="DATA", help="Table with the model's columns.")]
TableOutput = Annotated[
    Path, typer.Option("--output", "-o", help="Table to write; its ending is its format.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", "-k", help="Columns to write beside the score; else all of them."),
]
ScoreName = Annotated[
    str | None, typer.Option(help="Of the new column; else log_ratio or log_density.")
]
BatchRows = Annotated[int, typer.Option(min=1, max=1 << 31, help="Rows in memory at once.")]


def scoring(command_name: str, about: str, *, only_densities: bool = False) -> Callable[..., None]:
    """A command that scores a table, by models of densities only or by all."""

    def score(
        session: Session,
        model: ModelInput,
        data: DataInput,
        output: TableOutput,
        keep: Keep = None,
        name: ScoreName = None,
        batch_rows: BatchRows = 65_536,
    ) -> None:
        from secant.io.scoring import Scorer, score_table
        from secant.io.tables import column_names

        scorer = Scorer.loaded(model)
        if only_densities and scorer.quantity != "log_density":
            raise ValueError(
                f"{model} is a model of a ratio, not of a density; use `secant score`."
            )
        found = score_table(
            scorer,
            data,
            output,
            keep=patterns(keep, column_names(data)),
            name=name,
            batch_rows=batch_rows,
            seed=session.seed,
        )
        session.show(f"{_told(found)}\ntable: {output}")
        session.finish({"output": str(output), "quantity": scorer.quantity, **vars(found)})

    score.__doc__ = about
    return command(command_name)(score)


def _told(found: Scored) -> str:
    empty = f", {found.rows - found.scored:,} without a score" if found.scored < found.rows else ""
    return (
        f"{found.rows:,} rows{empty}: {found.name} has mean {found.mean:.4f} nats, "
        f"from {found.least:.4f} to {found.most:.4f}"
    )


score = scoring(
    "score",
    """Write the log ratio or log density of every row.

    It stands beside the row's columns. The table is read and written piece by piece: it may be
    larger than memory. A row that a model fitted with `--missing drop` cannot score gets an empty
    score.
    """,
)
