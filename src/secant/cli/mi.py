"""`secant mi`: mutual information between columns of a table, or of all pairs of columns."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from secant.cli.command import command
from secant.cli.estimators import (
    FitMethod,
    MethodOption,
    Permutations,
    ratio_estimator,
    with_settings,
)
from secant.cli.inputs import (
    ColumnsOption,
    Missing,
    MissingOption,
    encoded_alone,
    patterns,
    read_one,
)
from secant.cli.reports import Html, ReportOutput, check_report, write_report
from secant.cli.session import JSON, Session

if TYPE_CHECKING:
    import numpy as np

    from secant.tables.encoding import EncodedTable
    from secant.tasks import MIOptions, MutualInformation, MutualInformationMatrix


class Unit(enum.Enum):
    """Units of information."""

    NATS = "nats"
    BITS = "bits"


@command("mi", trains=True)
def mi(
    session: Session,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The table.")],
    *,
    x: Annotated[
        list[str] | None, typer.Option("--x", help="Columns of x, as for --columns.")
    ] = None,
    y: Annotated[list[str] | None, typer.Option("--y", help="Columns of y.")] = None,
    z: Annotated[list[str] | None, typer.Option("--z", help="Columns to condition on.")] = None,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="All pairs of the columns instead.")
    ] = False,
    columns: ColumnsOption = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = FitMethod.AUTO,
    unit: Annotated[Unit, typer.Option(help="Of the answer.")] = Unit.NATS,
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
    permutations: Permutations = 199,
    correct: Annotated[
        bool,
        typer.Option(
            "--correct/--no-correct", help="Add a bias correction, by parametric bootstrap."
        ),
    ] = True,
    second_opinion: Annotated[
        bool,
        typer.Option("--second-opinion/--no-second-opinion", help="Also estimate along the path."),
    ] = True,
    output: ReportOutput = None,
    html: Html = True,
) -> None:
    """Estimate mutual information of columns, with its error.

    I(x; y), or I(x; y | z), with interval and p-value; or of all pairs of columns.
    """
    check_report(output)
    given = {
        "n_permutations": permutations,
        "correct": correct,
        "second_opinion": second_opinion and not matrix,
        "base": unit.value,
        "confidence": confidence,
    }
    options = partial(_options, method=method, session=session, given=given)
    report = partial(write_report, session, output, html=html)
    if matrix:
        if x or y or z:
            raise ValueError("--matrix takes all pairs of --columns; leave out --x, --y and --z.")
        part = read_one(data, columns, missing, seed=session.seed)
        _check_numbers(part)
        _matrix_information(session, data, part, options, report, _finished_pairs(output))
        return
    if not x or not y:
        raise ValueError("Name the columns: --x … --y …, or --matrix for all pairs.")
    named = {"x": x, "y": y, **({"z": z} if z else {})}
    parts = _read(data, named, missing, seed=session.seed)
    _pair_information(session, data, parts, options, report)


def _options(n: int, *, method: FitMethod, session: Session, given: dict[str, Any]) -> MIOptions:
    """The options for n rows, with the session's training settings."""
    from secant.tasks import MIOptions
    from secant.tasks.information import default_ratio_for_scores

    estimator = ratio_estimator(method, default_ratio_for_scores(n), n, session)
    plain = MIOptions(estimator=estimator, **given)
    opinion = plain.path_entropy()
    if opinion is None:
        return plain
    return replace(plain, second_opinion=with_settings(opinion, n, session))


def _pair_information(
    session: Session,
    data: Path,
    parts: Mapping[str, EncodedTable],
    options: Callable[[int], MIOptions],
    report: Callable[..., list[str]],
) -> None:
    """Mutual information of "x" and "y", perhaps given "z"."""
    blocks = _common_rows(list(parts.values()))
    # Only now: it imports JAX, which takes longer than to find a mistake in a table.
    from secant.report import write_information
    from secant.tasks import mutual_information

    n = blocks[0].shape[0]
    session.say(f"{n:,} rows of {data}")
    found = mutual_information(*blocks, **vars(options(n)), random_state=session.seed)
    session.show(f"I(x; y{' | z' if 'z' in parts else ''}) = {found}")
    _warn(session, found)
    inputs: dict[str, JSON] = {
        name: parts[name].encoding.inputs if name in parts else None for name in ("x", "y", "z")
    }
    x, y = (", ".join(parts[name].encoding.inputs) for name in ("x", "y"))
    written = report(found, partial(write_information, names=(x, y)))
    session.finish({"data": str(data), **inputs, "rows": n, **_summary(found), "report": written})


def _read(
    data: Path, named: Mapping[str, list[str]], missing: Missing, *, seed: int
) -> dict[str, EncodedTable]:
    """The encoded columns of each variable; the file is read once."""
    from secant.tables.files import column_names, read_table, selected

    names = column_names(data)
    chosen = {name: selected(names, patterns(c, names) or []) for name, c in named.items()}
    _check_apart(chosen)
    table = read_table(data, [column for columns in chosen.values() for column in columns])
    return {
        name: encoded_alone(table.select(c), data, missing, seed=3 * seed + number)
        for number, (name, c) in enumerate(chosen.items())
    }


def _check_apart(chosen: Mapping[str, list[str]]) -> None:
    seen: dict[str, str] = {}
    for name, columns in chosen.items():
        for column in columns:
            if column in seen:
                raise ValueError(
                    f"Column {column!r} is in both --{seen[column]} and --{name}; "
                    "leave it out of one of them ('!…' among its columns)."
                )
            seen[column] = name


def _common_rows(parts: list[EncodedTable]) -> list[np.ndarray]:
    """The rows that all variables have kept."""
    import numpy as np

    common = parts[0].encoded.kept
    for part in parts[1:]:
        common = np.intersect1d(common, part.encoded.kept, assume_unique=True)
    return [part.rows[np.isin(part.encoded.kept, common)] for part in parts]


def _warn(session: Session, found: MutualInformation) -> None:
    if found.opinions_differ and found.on_path is not None:
        session.warn(
            "DisagreementWarning",
            f"on the path the estimate is {found.on_path.estimate:.4g} ± "
            f"{found.on_path.standard_error:.2g} {found.base}, off by more than two errors; "
            "use more rows, or more --steps.",
            shown=True,
        )
    if not found.is_normalised and found.pointwise is not None:
        session.warn(
            "NormaliserWarning",
            "the ratio's tail is too heavy to normalise it: the estimate's error is of first order "
            "in that of the fit. Use more rows.",
            shown=True,
        )


def _summary(found: MutualInformation) -> dict[str, JSON]:
    opinion = found.on_path
    return {
        "estimate": found.estimate,
        "standard_error": found.standard_error,
        "interval": found.interval,
        "confidence": found.confidence,
        "p_value": found.p_value,
        "unit": found.base,
        "correction": found.correction,
        "is_normalised": found.is_normalised,
        "second_opinion": None
        if opinion is None
        else {"estimate": opinion.estimate, "standard_error": opinion.standard_error},
    }


def _matrix_information(
    session: Session,
    data: Path,
    part: EncodedTable,
    options: Callable[[int], MIOptions],
    report: Callable[..., list[str]],
    finished: Path | None,
) -> None:
    """Mutual information of all pairs; the same command continues from the finished ones."""
    from secant.report import write_matrix
    from secant.tasks import mutual_information_matrix

    found = mutual_information_matrix(
        part.rows,
        options=options(part.rows.shape[0]),
        progress=False if session.quiet else None,
        resume=finished,
        random_state=session.seed,
    )
    found = replace(found, names=part.encoding.names)
    _show_matrix(session, found)
    d = len(found.names)
    if found.n_finished < d * (d - 1) // 2:
        resumable = "" if finished is None else "; run the same command to continue"
        session.say(f"Stopped after {found.n_finished} of {d * (d - 1) // 2} pairs{resumable}.")
    result: dict[str, JSON] = {
        "data": str(data),
        "columns": found.names,
        "rows": part.rows.shape[0],
        "estimate": found.estimate.tolist(),
        "standard_error": found.standard_error.tolist(),
        "p_value": found.p_value.tolist(),
        "adjusted_p_value": found.adjusted_p_value.tolist(),
        "finished_pairs": found.n_finished,
        "unit": found.base,
        "report": report(found, write_matrix, figures=_drawn),
    }
    session.finish(result, schema="mi-matrix")


def _finished_pairs(output: Path | None) -> Path | None:
    """The file of finished pairs, in the report's folder or beside its page."""
    if output is None:
        return None
    if output.suffix:
        return output.with_suffix(".pairs.jsonl")
    output.mkdir(parents=True, exist_ok=True)
    return output / "pairs.jsonl"


def _check_numbers(part: EncodedTable) -> None:
    several = [code.name for code in part.encoding.codes if len(code.names) > 1]
    if several:
        raise ValueError(
            f"--matrix takes columns of numbers; these hold categories: "
            f"{', '.join(map(repr, several[:5]))}. Leave them out with --columns '!…', or ask for "
            "one pair with --x and --y."
        )


def _drawn(folder: Path, found: MutualInformationMatrix) -> Sequence[Path]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=found.figure_size, layout="compressed")
    found.plot(figure.subplots())
    paths = [folder / f"matrix.{ending}" for ending in ("png", "svg")]
    for path in paths:
        figure.savefig(path, dpi=150)
    return paths


def _show_matrix(session: Session, found: MutualInformationMatrix) -> None:
    d = len(found.names)
    session.show_table(
        ("column", "column", found.base, "± s.e.", "p-value", "adjusted p"),
        [
            (
                found.names[i],
                found.names[j],
                f"{found.estimate[i, j]:.4f}",
                f"{found.standard_error[i, j]:.4f}",
                f"{found.p_value[i, j]:.3g}",
                f"{found.adjusted_p_value[i, j]:.3g}",
            )
            for i, j in found.strongest(d * (d - 1) // 2)
        ],
    )
