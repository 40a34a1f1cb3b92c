"""`secant density`: a normalised density from one table, and its values at rows."""

from __future__ import annotations

import enum
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
from secant.cli.estimators import fit_status, with_settings
from secant.cli.fit import ModelOutput
from secant.cli.inputs import ColumnsOption, Missing, MissingOption, read_one
from secant.cli.reports import check_report, write_report
from secant.cli.resuming import Resumable, Resume
from secant.cli.score import scoring
from secant.cli.session import JSON, Session, check_place
from secant.exceptions import AtomsWarning

if TYPE_CHECKING:
    from secant.tables.encoding import EncodedTable
    from secant.tasks import DensityEstimator


app = typer.Typer(help="Fit a normalised density; score rows by it.", no_args_is_help=True)


class BaseOption(enum.Enum):
    """The base of the density."""

    AUTO = "auto"
    NORMAL = "normal"
    GAUSSIAN = "gaussian"
    COPULA = "copula"
    MIXTURE = "mixture"
    COPULA_MIXTURE = "copula-mixture"


@app.command("fit")
@command("density fit", trains=True)
def fit(
    session: Session,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The table.")],
    output: ModelOutput,
    *,
    columns: ColumnsOption = None,
    missing: MissingOption = Missing.REFUSE,
    base: Annotated[
        BaseOption, typer.Option(help="auto tries copula, mixture and both, and keeps the best.")
    ] = BaseOption.AUTO,
    dequantise: Annotated[
        bool, typer.Option("--dequantise", help="Add noise to discrete columns.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Report to write: a .html page, a .md summary or a folder."),
    ] = None,
    resume: Resume = False,
) -> None:
    """Learn log p(x) of a table's rows and save it for `secant density score`.

    Ctrl-C stops training, saves the best state so far and keeps a checkpoint beside it, from which
    the same command resumes with --resume.
    """
    check_place(output)
    training = Resumable(output, resume=resume)
    check_report(report)
    part = read_one(data, columns, missing, seed=session.seed)
    # Only now: it imports JAX, which takes longer than to find a mistake in a table.
    from secant.report import write_density
    from secant.tasks.density import DensityEstimator, default_density_ratio

    n, d = part.rows.shape
    session.say(f"fitting {n:,} rows of {d} columns")
    estimator = DensityEstimator(
        None if base is BaseOption.AUTO else base.value,
        estimator=with_settings(default_density_ratio(n), n, session),
        dequantise="auto" if dequantise else None,
        random_state=session.seed,
    )
    if not dequantise:
        _warn_of_atoms(session, part)
    with training.kept() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", AtomsWarning)  # this command has its own warning
        estimator.fit(part.rows, resume=folder)
    training.save(estimator, {"encoding": part.encoding.to_json(), "tables": [data.name]})
    scores = estimator.score_samples(part.rows)
    mean = float(scores.mean())
    lines = [
        ("mean log density", f"{mean:.4f} nats, of the rows fitted"),
        ("normaliser", str(estimator.normalizer_)),
        *estimator.ratio_.diagnostics_.fit_lines,
        ("model", str(output)),
    ]
    session.show("\n".join(f"{name:18s}{text}" for name, text in lines))
    page = partial(write_density, log_density=scores)
    written = [] if report is None else write_report(session, report, estimator, page)
    session.finish(
        {
            "output": str(output),
            "rows": n,
            "inputs": part.encoding.inputs,
            "columns": part.encoding.names,
            "mean_log_density": mean,
            **_summary(estimator),
            "report": written,
        }
    )
    training.finish(session)


def _warn_of_atoms(session: Session, part: EncodedTable) -> None:
    from secant.tasks.atoms import atoms_in

    if text := atoms_in(part.rows, part.encoding.names):
        remedy = "--dequantise spreads their values over the gaps between them."
        session.warn("AtomsWarning", f"{text} {remedy}")


def _summary(estimator: DensityEstimator) -> dict[str, JSON]:
    found = estimator.normalizer_
    return {
        "base": type(estimator.base_).__name__,
        **fit_status(estimator.ratio_),
        "log_normaliser": found.value,
        "log_normaliser_error": found.standard_error,
        "log_normaliser_doubt": found.doubt,
    }


app.command("score")(
    scoring(
        "density score",
        "Write the log density of every row beside its columns; as `secant score`.",
        only_densities=True,
    )
)
