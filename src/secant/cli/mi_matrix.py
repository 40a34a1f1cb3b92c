"""`secant mi --matrix`: all pairs of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from secant.cli.inputs import Missing, OneTable
from secant.cli.mi_settings import MISettings
from secant.cli.output import JSON
from secant.cli.reports import Writers
from secant.cli.session import Session

if TYPE_CHECKING:
    from secant.tasks import MutualInformationMatrix

__all__ = ["matrix_information"]


def matrix_information(
    session: Session,
    data: Path,
    columns: list[str] | None,
    missing: Missing,
    settings: MISettings,
    output: Path | None,
) -> tuple[dict[str, JSON], Writers]:
    """Estimate and show them; the result as JSON has it, and how to report it.

    Finished pairs are kept beside the report, from where the same command goes on.
    """
    from secant.tasks import mutual_information_matrix

    part = OneTable.read(data, columns, missing, seed=session.seed)
    _check_numbers(part)
    found = mutual_information_matrix(
        part.rows,
        options=settings.options(part.rows.shape[0], session),
        progress=False if session.quiet else None,
        resume=_kept(output),
        random_state=session.seed,
    )
    found = replace(found, names=part.encoding.names)
    _show_matrix(session, found)
    d = len(found.names)
    if found.n_finished < d * (d - 1) // 2:
        goes_on = "" if output is None else "; the same command goes on from there"
        session.say(f"Stopped after {found.n_finished} of {d * (d - 1) // 2} pairs{goes_on}.")
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
    return result, _writers(found, session)


def _kept(output: Path | None) -> Path | None:
    """The file of finished pairs, in the report's folder or beside its page."""
    if output is None:
        return None
    if output.suffix:
        return output.with_suffix(".pairs.jsonl")
    output.mkdir(parents=True, exist_ok=True)
    return output / "pairs.jsonl"


def _check_numbers(part: OneTable) -> None:
    several = [code.name for code in part.encoding.codes if len(code.names) > 1]
    if several:
        raise ValueError(
            f"--matrix takes columns of numbers; these hold categories: "
            f"{', '.join(map(repr, several[:5]))}. Leave them out with --columns '!…', or ask for "
            "one pair with --x and --y."
        )


def _writers(found: MutualInformationMatrix, session: Session) -> Writers:
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
