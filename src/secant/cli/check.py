"""`secant check`: two tables against declared limits, for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import ExitCode, command
from secant.cli.estimators import FitMethod, MethodOption, wanted_estimator
from secant.cli.inputs import Columns, Missing, MissingOption, TwoTables
from secant.cli.output import JSON, check_place
from secant.cli.session import Session

if TYPE_CHECKING:
    from secant.tasks import Check, CheckedLimit


@command("check", trains=True)
def check(
    session: Session,
    a: Annotated[Path, typer.Argument(metavar="A", help="Table of p_0, the reference.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Table of p_1, with the same columns.")],
    limits: Annotated[Path, typer.Option(help="TOML file of limits, as overlap = '>= 0.8'.")],
    junit: Annotated[Path | None, typer.Option(help="JUnit XML file to write.")] = None,
    columns: Columns = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = FitMethod.AUTO,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Number of folds for out-of-fold scores.")
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Permutations for the p-value.")
    ] = 999,
) -> None:
    """Check two tables against declared limits.

    Exit code 0: all limits hold. 1: a limit failed. 2: the tables or the limits cannot be used.
    """
    from secant.limits import read_limits

    declared = read_limits(limits)
    if junit is not None:
        check_place(junit)
    tables = TwoTables.read(a, b, columns, missing, seed=session.seed)
    # Only now: they import JAX, which takes longer than to find a mistake in a table.
    from secant.tasks.checking import checked_tables
    from secant.tasks.given_tables import GivenTables, columns_of

    x_0, x_1 = tables.first.rows, tables.second.rows
    session.say(f"checking {len(x_1):,} rows against {len(x_0):,}, {len(declared)} limits")
    names = (a.name, b.name) if a.name != b.name else (str(a), str(b))
    found = checked_tables(
        GivenTables(x_0, x_1, columns_of(tables.encoding), names),
        declared,
        estimator=wanted_estimator(method, (len(x_0), len(x_1)), x_0.shape[1], session),
        n_folds=folds,
        n_permutations=permutations,
        random_state=session.seed,
    )
    _show(session, found)
    session.finish({**_summary(found, tables), "junit": _written(junit, found)})
    if not found.passed:
        raise typer.Exit(ExitCode.FAILED)


def _show(session: Session, found: Check) -> None:
    session.show_table(found.header, [row.cells for row in found.rows])
    session.show(f"\n{found.verdict}")
    if found.comparison is not None and not found.passed:
        session.show(found.comparison.verdict)


def _written(junit: Path | None, found: Check) -> str | None:
    if junit is None:
        return None
    from secant.report.junit import write_junit

    write_junit(junit, found)
    return str(junit)


def _summary(found: Check, tables: TwoTables) -> dict[str, JSON]:
    return {
        "tables": found.sample_names,
        "rows": [len(tables.first.rows), len(tables.second.rows)],
        "passed": found.passed,
        "limits": [_limit(row) for row in found.rows],
        "verdict": None if found.comparison is None else found.comparison.verdict,
        "seconds": found.seconds,
    }


def _limit(row: CheckedLimit) -> dict[str, JSON]:
    return {
        "name": row.name,
        "limit": row.limit.text,
        "value": row.value,
        "interval": row.interval,
        "passed": row.passed,
    }
