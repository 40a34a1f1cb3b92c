"""`secant mi --x … --y …`: one number with its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from secant.cli.inputs import Missing, OneTable, patterns
from secant.cli.mi_settings import MISettings
from secant.cli.output import JSON
from secant.cli.reports import Writers
from secant.cli.session import Session

if TYPE_CHECKING:
    import numpy as np

    from secant.tasks import MutualInformation

__all__ = ["pair_information"]


def pair_information(
    session: Session,
    data: Path,
    named: Mapping[str, list[str]],
    missing: Missing,
    settings: MISettings,
) -> tuple[dict[str, JSON], Writers]:
    """Estimate and show it; the result as JSON has it, and how to report it.

    Args:
        session: of the command.
        data: the table.
        named: columns of "x", "y" and perhaps "z".
        missing: what to do about missing values.
        settings: of the estimate.
    """
    from secant.tasks import mutual_information

    parts = _read(data, named, missing, seed=session.seed)
    blocks = _common_rows(list(parts.values()))
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
    return {**inputs, "rows": n, **_summary(found)}, _writers(found, parts, session)


def _writers(found: MutualInformation, parts: Mapping[str, OneTable], session: Session) -> Writers:
    from secant.report import write_information, write_markdown

    x, y = (", ".join(parts[name].encoding.inputs) for name in ("x", "y"))
    return Writers(
        page=lambda path: write_information(path, found, names=(x, y), command=session.line),
        summary=lambda path: write_markdown(path, found),
        figures=lambda folder: (),
    )


def _read(
    data: Path, named: Mapping[str, list[str]], missing: Missing, *, seed: int
) -> dict[str, OneTable]:
    """The columns of each variable as numbers, from a file that is read once."""
    from secant.io.tables import column_names, read_table, selected

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
