"""`secant check`: two tables against declared limits, for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import ExitCode, command
from secant.cli.estimators import FitMethod, Folds, MethodOption, Permutations, wanted_estimator
from secant.cli.inputs import (
    ColumnsOption,
    FirstTable,
    GroupOption,
    Missing,
    MissingOption,
    SecondTable,
    groups_of,
    names_of,
    read_two,
)
from secant.cli.session import JSON, Session, check_place

if TYPE_CHECKING:
    from secant.tasks import Check, CheckedLimit


@command("check", trains=True)
def check(
    session: Session,
    a: FirstTable,
    b: SecondTable,
    limits: Annotated[Path, typer.Option(help="TOML file of limits, as overlap = '>= 0.8'.")],
    junit: Annotated[Path | None, typer.Option(help="JUnit XML file to write.")] = None,
    columns: ColumnsOption = None,
    group: GroupOption = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = FitMethod.AUTO,
    folds: Folds = None,
    permutations: Permutations = 999,
) -> None:
    """Check two tables against declared limits.

    Exit code 0: all limits hold. 1: a limit failed. 2: the tables or the limits cannot be used.
    """
    from secant.limits import read_limits

    declared = read_limits(limits)
    if junit is not None:
        check_place(junit)
    first, second = read_two(a, b, columns, missing, seed=session.seed)
    # Only now: they import JAX, which takes longer than to find a mistake in a table.
    from secant.tasks.checking import checked_tables
    from secant.tasks.given_tables import GivenTables

    x_0, x_1 = first.rows, second.rows
    groups = groups_of(group, first.encoding.inputs)
    session.say(f"checking {len(x_1):,} rows against {len(x_0):,}, {len(declared)} limits")
    found = checked_tables(
        GivenTables(x_0, x_1, first.encoding.columns, names_of(a, b), groups),
        declared,
        estimator=wanted_estimator(method, (len(x_0), len(x_1)), x_0.shape[1], session),
        n_folds=folds,
        n_permutations=permutations,
        random_state=session.seed,
    )
    session.show_table(found.header, [row.cells for row in found.rows])
    session.show(f"\n{found.verdict}")
    if found.comparison is not None and not found.passed:
        session.show(found.comparison.verdict)
    if junit is not None:
        from secant.report.junit import write_junit

        write_junit(junit, found)
    result = _summary(found, [len(x_0), len(x_1)])
    session.finish({**result, "junit": None if junit is None else str(junit)})
    if not found.passed:
        raise typer.Exit(ExitCode.FAILED)


def _summary(found: Check, rows: list[JSON]) -> dict[str, JSON]:
    return {
        "tables": found.sample_names,
        "rows": rows,
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
