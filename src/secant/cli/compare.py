"""`secant compare`: how far two tables differ, in which columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
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
from secant.cli.reports import Html, ReportOutput, check_report, write_report
from secant.cli.session import JSON, Session

if TYPE_CHECKING:
    from secant.tasks import Comparison, Divergence
    from secant.tasks.comparison_result import UnlikeRows


@command("compare", trains=True)
def compare(
    session: Session,
    a: FirstTable,
    b: SecondTable,
    *,
    columns: ColumnsOption = None,
    group: GroupOption = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = FitMethod.AUTO,
    folds: Folds = None,
    permutations: Permutations = 999,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    output: ReportOutput = None,
    html: Html = True,
) -> None:
    """Compare two tables: how far, which columns, which rows.

    Every row is scored out of fold. Exit code 0 means that the comparison ran, not that the tables
    are alike: read `p_value` or `degree` of --json for that.
    """
    check_report(output)
    first, second = read_two(a, b, columns, missing, seed=session.seed)
    from secant.tables.groups import encoded_groups

    groups = encoded_groups(groups_of(group, first.encoding.inputs), first.encoding.columns)
    # Only now: they import JAX, which takes longer than to find a mistake in a table.
    from secant.report import write_comparison
    from secant.tasks import compare as compared

    x_0, x_1 = first.rows, second.rows
    session.say(f"comparing {len(x_0):,} and {len(x_1):,} rows of {x_0.shape[1]} columns")
    found = compared(
        x_0,
        x_1,
        feature_names=first.encoding.names,
        sample_names=names_of(a, b),
        groups=groups,
        estimator=wanted_estimator(method, (len(x_0), len(x_1)), x_0.shape[1], session),
        n_folds=folds,
        n_permutations=permutations,
        confidence=confidence,
        random_state=session.seed,
    )
    found = found.with_cells(first, second)
    session.show(str(found))
    for note in found.notes:
        session.warn("OverlapWarning", note, shown=True)
    written = write_report(session, output, found, write_comparison, html=html, figures=_figures)
    session.finish({**_summary(found, first.encoding.inputs), "report": written})


def _figures(folder: Path, found: Comparison) -> Sequence[Path]:
    from secant.report.figures import write_figures  # which imports matplotlib

    return write_figures(folder, found)


def _summary(found: Comparison, inputs: Sequence[str]) -> dict[str, JSON]:
    return {
        "tables": found.sample_names,
        "rows": [found.log_ratio_0.size, found.log_ratio_1.size],
        "inputs": inputs,
        "columns": found.feature_names,
        "verdict": found.verdict,
        "degree": found.degree.name.lower(),
        "p_value": found.p_value,
        "model": found.model,
        "changes": found.changes,
        "kl": _divergence(found.kl),
        "kl_reverse": _divergence(found.kl_reverse),
        "jensen_shannon": _divergence(found.jensen_shannon),
        "overlap": found.overlap,
        "overlap_error": found.overlap_error,
        "overlap_interval": found.overlap_interval,
        "effective_sample_size": [found.effective_sample_size_0, found.effective_sample_size_1],
        "features": [
            {
                "name": feature.name,
                "columns": feature.n_columns,
                "contribution": feature.contribution,
                "mean_shift": feature.margin.mean_shift,
                "ks_distance": feature.margin.ks_distance,
            }
            for feature in found.features
        ],
        "unlike_rows": [_rows(found.unlike_0), _rows(found.unlike_1)],
        "fits": len(found.fits),
        "settings": found.settings,
        "versions": found.versions,
        "seconds": found.seconds,
    }


def _divergence(found: Divergence) -> dict[str, JSON]:
    return {
        "estimate": found.estimate,
        "standard_error": found.standard_error,
        "interval": found.interval,
        "confidence": found.confidence,
    }


def _rows(rows: UnlikeRows) -> list[JSON]:
    pairs = zip(rows.numbers.tolist(), rows.log_ratio.tolist(), strict=True)
    return [{"row": number, "log_ratio": score} for number, score in pairs]
