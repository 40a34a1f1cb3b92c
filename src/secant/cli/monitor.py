"""`secant monitor`: a stream of rows against a fixed reference, window by window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import ExitCode, command
from secant.cli.estimators import FitMethod, MethodOption, wanted_estimator
from secant.cli.inputs import (
    ColumnsOption,
    GroupOption,
    Missing,
    MissingOption,
    groups_of,
    patterns,
)
from secant.cli.reports import Html, ReportOutput, check_report, write_report
from secant.cli.session import JSON, Session, check_place

if TYPE_CHECKING:
    import pyarrow as pa

    from secant.tasks import Monitoring
    from secant.tasks.monitoring_state import WindowRecord

__all__ = ["monitor"]


@command("monitor", trains=True)
def monitor(
    session: Session,
    reference: Annotated[Path, typer.Argument(help="Table of reference rows.")],
    stream: Annotated[Path, typer.Argument(help="Table of all rows so far, in order of time.")],
    *,
    every: Annotated[
        str, typer.Option(help="Length of a window: rows, or such as 1d, 6h, 30min, 1w, 1mo.")
    ],
    time: Annotated[
        str | None, typer.Option(help="Column of times; by default, rows are in order.")
    ] = None,
    columns: ColumnsOption = None,
    group: GroupOption = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = FitMethod.AUTO,
    level: Annotated[
        float, typer.Option(help="Share of streams like the reference that ever raise the alarm.")
    ] = 0.05,
    least_overlap: Annotated[
        float, typer.Option(help="A change that leaves at least this share in common is tolerated.")
    ] = 1.0,
    last_is_complete: Annotated[
        bool, typer.Option("--last-is-complete", help="Compare the last window, however full.")
    ] = False,
    permutations: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Permutations for a window's p-value.")
    ] = 199,
    state: Annotated[
        Path | None,
        typer.Option(help="JSON file to continue from; by default, state.json in the -o folder."),
    ] = None,
    output: ReportOutput = None,
    html: Html = True,
) -> None:
    """Monitor a stream: which window changed, in which columns, since when.

    Run it again with rows added to the stream: finished windows are kept in the state file.
    Exit code 0: no alarm. 1: the alarm was raised. 2: the tables cannot be used.
    """
    check_report(output)
    place = _place_of_state(state, output)
    tables = [_read(path, columns, time) for path in (reference, stream)]
    # Only now: it imports JAX, which takes longer than to find a mistake in a table.
    from secant.report import write_monitoring
    from secant.tasks import monitor as watched

    n_0, n = (table.num_rows for table in tables)
    session.say(f"monitoring {n:,} rows against {n_0:,} of the reference, windows of {every}")
    found = watched(
        tables[0],
        tables[1],
        time=time,
        every=every,
        level=level,
        least_overlap=least_overlap,
        groups=groups_of(group, tables[0].column_names),
        missing=missing,
        estimator=wanted_estimator(method, (n_0, n), tables[0].num_columns, session),
        n_permutations=permutations,
        state=place,
        last_is_complete=last_is_complete,
        sample_names=(reference.name, stream.name),
        progress=False if session.quiet else None,
        random_state=session.seed,
    )
    session.show(str(found))
    for note in found.notes:
        session.warn("MonitorWarning", note, shown=True)
    written = write_report(session, output, found, write_monitoring, html=html)
    kept = None if place is None else str(place)
    session.finish({**_summary(found), "state": kept, "report": written})
    if found.has_alarm:
        raise typer.Exit(ExitCode.FAILED)


def _place_of_state(state: Path | None, output: Path | None) -> Path | None:
    """The state file, in the folder of the report unless named; checked before the work starts."""
    if state is None and (output is None or output.suffix):
        return None
    if state is None:
        assert output is not None
        output.mkdir(parents=True, exist_ok=True)
        state = output / "state.json"
    check_place(state)
    return state


def _read(path: Path, columns: Sequence[str] | None, time: str | None) -> pa.Table:
    from secant.tables.files import column_names, read_table

    names = column_names(path)
    chosen = patterns(columns, names)
    if chosen is not None and time in names:
        chosen = [*chosen, str(time)]
    return read_table(path, chosen)


def _summary(found: Monitoring) -> dict[str, JSON]:
    def label(number: int | None) -> str | None:
        return None if number is None else found.windows[number].label

    return {
        "tables": found.sample_names,
        "verdict": found.verdict,
        "alarm": found.has_alarm,
        "alarm_at": label(found.alarm),
        "proved_at": label(found.proof),
        "since": label(found.since),
        "degree": found.degree.name.lower(),
        "overlap": found.overlap,
        "anytime_p_value": found.anytime_p_value,
        "log_evidence": found.log_evidence,
        "level": found.level,
        "columns": [
            {
                "name": column.name,
                "contribution": column.contribution,
                "mean_shift": column.mean_shift,
                "direction": column.direction,
                "since": column.since,
                "windows": column.n_windows,
            }
            for column in found.columns
        ],
        "band": {
            "blocks": found.band.n_blocks,
            "rows": found.band.n_rows,
            "overlap": found.band.overlap,
            "kl": found.band.kl,
        },
        "windows": [_window(window) for window in found.windows],
        "compared_now": found.n_new,
        "time_zone": found.zone,
        "notes": found.notes,
        "seconds": found.seconds,
    }


def _window(window: WindowRecord) -> dict[str, JSON]:
    row: dict[str, JSON] = {
        "label": window.label,
        "rows": window.n_rows,
        "rows_used": window.n_used,
        "open": window.is_open,
        "not_compared": window.why_not or None,
        "columns_gone": window.gone,
        "log_evidence": window.log_evidence,
    }
    if window.found is None:
        return row
    found = window.found
    return {
        **row,
        "p_value": found.p_value,
        "degree": found.degree.name.lower(),
        "overlap": found.overlap,
        "overlap_interval": found.overlap_interval,
        "kl": found.kl,
        "kl_interval": found.kl_interval,
        "changed": [
            {"name": c.name, "direction": c.direction, "contribution": c.contribution}
            for c in found.changed
        ],
        "unlike_rows": [
            {"row": number, "log_ratio": score}
            for number, score in zip(found.rows, found.row_scores, strict=True)
        ],
    }
