"""`secant mi`: mutual information between columns of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from secant.cli.command import command
from secant.cli.estimators import Method, MethodOption
from secant.cli.inputs import Columns, Missing, MissingOption
from secant.cli.mi_matrix import matrix_information
from secant.cli.mi_pair import pair_information
from secant.cli.mi_settings import MISettings, Unit
from secant.cli.reports import Html, ReportOutput, check_report, write_report
from secant.cli.session import Session

__all__ = ["mi"]


@command("mi", trains=True)
def mi(
    session: Session,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The table.")],
    *,
    x: Annotated[list[str] | None, typer.Option("--x", help="Columns of x, as --columns.")] = None,
    y: Annotated[list[str] | None, typer.Option("--y", help="Columns of y.")] = None,
    z: Annotated[list[str] | None, typer.Option("--z", help="Columns to condition on.")] = None,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="All pairs of the columns instead.")
    ] = False,
    columns: Columns = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = Method.AUTO,
    unit: Annotated[Unit, typer.Option(help="Of the answer.")] = Unit.NATS,
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
    permutations: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Behind the p-value.")
    ] = 199,
    correct: Annotated[
        bool, typer.Option("--correct/--no-correct", help="Add what few rows fall short by.")
    ] = True,
    second_opinion: Annotated[
        bool, typer.Option("--second-opinion/--no-second-opinion", help="Estimate on the path too.")
    ] = True,
    output: ReportOutput = None,
    html: Html = True,
) -> None:
    """Estimate mutual information of columns, with its error.

    I(x; y), or I(x; y | z), with interval and p-value; or of all pairs of columns.
    """
    check_report(output)
    settings = MISettings(
        method, unit, confidence, permutations, correct, second_opinion and not matrix
    )
    if matrix:
        if x or y or z:
            raise ValueError("--matrix takes all pairs of --columns; leave out --x, --y and --z.")
        result, writers = matrix_information(session, data, columns, missing, settings, output)
    else:
        if not x or not y:
            raise ValueError("Name the columns: --x … --y …, or --matrix for all pairs.")
        named = {"x": x, "y": y, **({"z": z} if z else {})}
        result, writers = pair_information(session, data, named, missing, settings)
    written = write_report(session, output, writers, html=html)
    schema = "mi-matrix" if matrix else "mi"
    session.finish({"data": str(data), **result, "report": written}, schema=schema)
