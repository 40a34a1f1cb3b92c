"""`secant mi`: mutual information between columns of a table, or of all pairs of columns."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
from secant.cli.estimators import FitMethod, MethodOption, ratio_estimator, with_settings
from secant.cli.inputs import Columns, Missing, MissingOption, OneTable, patterns
from secant.cli.output import JSON
from secant.cli.reports import Html, ReportOutput, Writers, check_report, write_report
from secant.cli.session import Session

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
    columns: Columns = None,
    missing: MissingOption = Missing.REFUSE,
    method: MethodOption = FitMethod.AUTO,
    unit: Annotated[Unit, typer.Option(help="Of the answer.")] = Unit.NATS,
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
    permutations: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Permutations for the p-value.")
    ] = 199,
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
    settings = _Settings(
        method, unit, confidence, permutations, correct, second_opinion and not matrix
    )
    if matrix:
        if x or y or z:
            raise ValueError("--matrix takes all pairs of --columns; leave out --x, --y and --z.")
        result, writers = _matrix_information(session, data, columns, missing, settings, output)
    else:
        if not x or not y:
            raise ValueError("Name the columns: --x … --y …, or --matrix for all pairs.")
        named = {"x": x, "y": y, **({"z": z} if z else {})}
        result, writers = _pair_information(session, data, named, missing, settings)
    written = write_report(session, output, writers, html=html)
    schema = "mi-matrix" if matrix else "mi"
    session.finish({"data": str(data), **result, "report": written}, schema=schema)


@dataclass(frozen=True)
class _Settings:
    """The options other than the columns."""

    method: FitMethod
    unit: Unit
    confidence: float
    permutations: int
    correct: bool
    second_opinion: bool

    def options(self, n: int, session: Session) -> MIOptions:
        """The estimator for n rows, with the session's training settings."""
        from secant.tasks import MIOptions
        from secant.tasks.model_choice import default_ratio

        plain = MIOptions(
            estimator=ratio_estimator(self.method, default_ratio(n), n, session),
            n_permutations=self.permutations,
            correct=self.correct,
            second_opinion=self.second_opinion,
            base=self.unit.value,
            confidence=self.confidence,
        )
        opinion = plain.path_entropy()
        if opinion is None:
            return plain
        return replace(plain, second_opinion=with_settings(opinion, n, session))


def _pair_information(
    session: Session,
    data: Path,
    named: Mapping[str, list[str]],
    missing: Missing,
    settings: _Settings,
) -> tuple[dict[str, JSON], Writers]:
    """Estimate and show the result; return its JSON and its report.

    Args:
        session: of the command.
        data: the table.
        named: columns of "x", "y" and perhaps "z".
        missing: how to treat missing values.
        settings: of the estimate.
    """
    parts = _read(data, named, missing, seed=session.seed)
    blocks = _common_rows(list(parts.values()))
    # Only now: it imports JAX, which takes longer than to find a mistake in a table.
    from secant.tasks import mutual_information

    n = blocks[0].shape[0]
    session.say(f"{n:,} rows of {data}")
    options = settings.options(n, session)
    chosen = {field.name: getattr(options, field.name) for field in fields(options)}
    found = mutual_information(*blocks, **chosen, random_state=session.seed)
    session.show(f"I(x; y{' | z' if 'z' in parts else ''}) = {found}")
    _warn(session, found)
    inputs: dict[str, JSON] = {
        name: parts[name].encoding.inputs if name in parts else None for name in ("x", "y", "z")
    }
    return {**inputs, "rows": n, **_summary(found)}, _pair_writers(found, parts, session)


def _pair_writers(
    found: MutualInformation, parts: Mapping[str, EncodedTable], session: Session
) -> Writers:
    from secant.report import write_information, write_markdown

    x, y = (", ".join(parts[name].encoding.inputs) for name in ("x", "y"))
    return Writers(
        page=lambda path: write_information(path, found, names=(x, y), command=session.line),
        summary=lambda path: write_markdown(path, found),
        figures=lambda folder: (),
    )


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
        name: OneTable.encoded_by_itself(table.select(c), data, missing, seed=3 * seed + number)
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
            "take more rows, or more --steps.",
            shown=True,
        )
    if not found.is_normalised and found.pointwise is not None:
        session.warn(
            "NormaliserWarning",
            "the ratio's tail is too heavy to normalise it: the estimate's error is of first order "
            "in that of the fit. Take more rows.",
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
    columns: list[str] | None,
    missing: Missing,
    settings: _Settings,
    output: Path | None,
) -> tuple[dict[str, JSON], Writers]:
    """Estimate and show the results; return their JSON and their report.

    Finished pairs are kept beside the report, and the same command continues from them.
    """
    part = OneTable.read(data, columns, missing, seed=session.seed)
    _check_numbers(part)
    from secant.tasks import mutual_information_matrix

    found = mutual_information_matrix(
        part.rows,
        options=settings.options(part.rows.shape[0], session),
        progress=False if session.quiet else None,
        resume=_finished_pairs(output),
        random_state=session.seed,
    )
    found = replace(found, names=part.encoding.names)
    _show_matrix(session, found)
    d = len(found.names)
    if found.n_finished < d * (d - 1) // 2:
        resumable = "" if output is None else "; run the same command to continue"
        session.say(f"Stopped after {found.n_finished} of {d * (d - 1) // 2} pairs{resumable}.")
    result: dict[str, JSON] = {
        "columns": found.names,
        "rows": part.rows.shape[0],
        "estimate": found.estimate.tolist(),
        "standard_error": found.standard_error.tolist(),
        "p_value": found.p_value.tolist(),
        "adjusted_p_value": found.adjusted_p_value.tolist(),
        "finished_pairs": found.n_finished,
        "unit": found.base,
    }
    return result, _matrix_writers(found, session)


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


def _matrix_writers(found: MutualInformationMatrix, session: Session) -> Writers:
    from secant.report import write_markdown, write_matrix

    return Writers(
        page=lambda path: write_matrix(path, found, command=session.line),
        summary=lambda path: write_markdown(path, found),
        figures=lambda folder: _drawn(found, folder),
    )


def _drawn(found: MutualInformationMatrix, folder: Path) -> Sequence[Path]:
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
