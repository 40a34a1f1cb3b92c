"""`secant mi`: mutual information between columns of a table."""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
from secant.cli.estimators import with_settings
from secant.cli.inputs import Columns, Missing, MissingOption, OneTable
from secant.cli.output import JSON
from secant.cli.session import Session

if TYPE_CHECKING:
    import numpy as np

    from secant.tasks import MIOptions, MutualInformation, MutualInformationMatrix

__all__ = ["mi"]


class Unit(enum.Enum):
    """Of information."""

    NATS = "nats"
    BITS = "bits"


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
    unit: Annotated[Unit, typer.Option(help="Of the answer.")] = Unit.NATS,
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
    permutations: Annotated[int, typer.Option(min=1, help="Behind the p-value.")] = 199,
    correct: Annotated[
        bool, typer.Option("--correct/--no-correct", help="Add what few rows fall short by.")
    ] = True,
    second_opinion: Annotated[
        bool, typer.Option("--second-opinion/--no-second-opinion", help="Estimate on the path too.")
    ] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Picture of the matrix to write.")
    ] = None,
) -> None:
    """Estimate I(x; y), or I(x; y | z), with its interval and p-value; or all pairs of columns."""
    settings = _Settings(unit, confidence, permutations, correct, second_opinion and not matrix)
    if matrix:
        if x or y or z:
            raise ValueError("--matrix takes all pairs of --columns; leave out --x, --y and --z.")
        _matrix(session, data, columns, missing, settings, output)
    else:
        if not x or not y:
            raise ValueError("Name the columns: --x … --y …, or --matrix for all pairs.")
        _pair(session, data, {"x": x, "y": y, **({"z": z} if z else {})}, missing, settings)


@dataclass(frozen=True)
class _Settings:
    unit: Unit
    confidence: float
    permutations: int
    correct: bool
    second_opinion: bool

    def options(self, n: int, session: Session) -> MIOptions:
        """For n rows, with the session's training."""
        from secant.tasks import MIOptions
        from secant.tasks.defaults import default_ratio

        plain = MIOptions(
            estimator=with_settings(default_ratio(n), session),
            n_permutations=self.permutations,
            correct=self.correct,
            second_opinion=self.second_opinion,
            base=self.unit.value,
            confidence=self.confidence,
        )
        opinion = plain.path_entropy(n)
        return (
            plain
            if opinion is None
            else replace(plain, second_opinion=with_settings(opinion, session))
        )


def _pair(
    session: Session,
    data: Path,
    named: dict[str, list[str]],
    missing: Missing,
    settings: _Settings,
) -> None:
    from secant.tasks import mutual_information

    parts = {
        name: OneTable.read(data, columns, missing, seed=3 * session.seed + number)
        for number, (name, columns) in enumerate(named.items())
    }
    _check_apart(parts)
    blocks = _common_rows(list(parts.values()))
    n = blocks[0].shape[0]
    session.say(f"{n:,} rows of {data}")
    options = settings.options(n, session)
    found = mutual_information(
        *blocks,
        **{f.name: getattr(options, f.name) for f in fields(options)},
        random_state=session.seed,
    )
    given = " | z" if "z" in parts else ""
    session.show(f"I(x; y{given}) = {found}")
    _warn(session, found)
    chosen: dict[str, JSON] = {
        name: parts[name].encoding.inputs if name in parts else None for name in ("x", "y", "z")
    }
    session.finish({"data": str(data), **chosen, "rows": n, **_summary(found)})


def _check_apart(parts: dict[str, OneTable]) -> None:
    seen: dict[str, str] = {}
    for name, part in parts.items():
        for column in part.encoding.inputs:
            if column in seen:
                raise ValueError(
                    f"Column {column!r} is in both --{seen[column]} and --{name}; "
                    "leave it out of one of them ('!…' among its columns)."
                )
            seen[column] = name


def _common_rows(parts: list[OneTable]) -> list[np.ndarray]:
    """The rows that all parts have kept."""
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
            told=True,
        )
    if not found.is_normalised and found.pointwise is not None:
        session.warn(
            "NormaliserWarning",
            "the ratio's tail is too heavy to normalise it: the estimate's error is of first order "
            "in that of the fit. Take more rows.",
            told=True,
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


def _matrix(
    session: Session,
    data: Path,
    columns: list[str] | None,
    missing: Missing,
    settings: _Settings,
    output: Path | None,
) -> None:
    from secant.tasks import mutual_information_matrix

    part = OneTable.read(data, columns, missing, seed=session.seed)
    several = [c.name for c in part.encoding.codes if len(c.names) > 1]
    if several:
        raise ValueError(
            f"--matrix takes columns of numbers; {', '.join(map(repr, several[:5]))} hold "
            "categories. Leave them out with --columns '!…', or ask for one pair with --x and --y."
        )
    found = mutual_information_matrix(
        part.rows,
        options=settings.options(part.rows.shape[0], session),
        progress=False if session.quiet else None,
        random_state=session.seed,
    )
    found = replace(found, names=part.encoding.names)
    _show_matrix(session, found)
    if output is not None:
        _draw(found, output)
        session.show(f"picture: {output}")
    session.finish(
        {
            "data": str(data),
            "columns": found.names,
            "rows": part.rows.shape[0],
            "estimate": found.estimate.tolist(),
            "standard_error": found.standard_error.tolist(),
            "p_value": found.p_value.tolist(),
            "unit": found.base,
            "picture": None if output is None else str(output),
        }
    )


def _show_matrix(session: Session, found: MutualInformationMatrix) -> None:
    pairs = [(i, j) for j in range(len(found.names)) for i in range(j)]
    ranked = sorted(pairs, key=lambda pair: -found.estimate[pair])
    session.show_table(
        ("column", "column", found.base, "± s.e.", "p-value"),
        [
            (
                found.names[i],
                found.names[j],
                f"{found.estimate[i, j]:.4f}",
                f"{found.standard_error[i, j]:.4f}",
                f"{found.p_value[i, j]:.3g}",
            )
            for i, j in ranked
        ],
    )


def _draw(found: MutualInformationMatrix, path: Path) -> None:
    from matplotlib.figure import Figure

    size = 1.6 + 0.7 * len(found.names)
    figure = Figure(figsize=(size + 1.0, size), layout="compressed")
    found.plot(figure.subplots())
    figure.savefig(path, dpi=150)
