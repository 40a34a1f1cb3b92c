"""`secant fit`: fit a ratio to two tables and save it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from secant.cli.command import command
from secant.cli.estimators import (
    FitMethod,
    SavableMethod,
    SavableMethodOption,
    fit_status,
    ratio_estimator,
)
from secant.cli.inputs import (
    ColumnsOption,
    FirstTable,
    Missing,
    MissingOption,
    SecondTable,
    read_two,
)
from secant.cli.resuming import Resumable, Resume
from secant.cli.session import JSON, Session, check_place

if TYPE_CHECKING:
    from secant.estimators import RatioEstimator


ModelOutput = Annotated[
    Path, typer.Option("--output", "-o", help="Model file to write, such as model.secant.")
]


@command("fit", trains=True)
def fit(
    session: Session,
    a: FirstTable,
    b: SecondTable,
    output: ModelOutput,
    columns: ColumnsOption = None,
    missing: MissingOption = Missing.REFUSE,
    method: SavableMethodOption = SavableMethod.AUTO,
    *,
    resume: Resume = False,
) -> None:
    """Fit log p_1 − log p_0 and save it for `secant score`.

    Ctrl-C stops training, saves the best state so far and keeps a checkpoint beside it, from which
    the same command resumes with --resume, with a bit-identical result.
    """
    check_place(output)
    training = Resumable(output, resume=resume)
    first, second = read_two(a, b, columns, missing, seed=session.seed)
    # Only now: it imports JAX, which takes longer than to find a mistake in a table.
    from secant.tasks.model_choice import default_ratio

    x_0, x_1, encoding = first.rows, second.rows, first.encoding
    session.say(f"fitting {x_0.shape[0]:,} and {x_1.shape[0]:,} rows of {x_0.shape[1]} columns")
    n = min(len(x_0), len(x_1))
    estimator = ratio_estimator(FitMethod(method.value), default_ratio(n, x_0.shape[1]), n, session)
    with training.kept() as folder:
        estimator.fit_samples(x_0, x_1, resume=folder)
    _name_columns(estimator, encoding.names)
    training.save(estimator, {"encoding": encoding.to_json(), "tables": [a.name, b.name]})
    session.show(f"{estimator.diagnostics_}\n\nmodel: {output}")
    session.finish(
        {
            "output": str(output),
            "rows": [x_0.shape[0], x_1.shape[0]],
            "inputs": encoding.inputs,
            "columns": encoding.names,
            **_summary(estimator),
        }
    )
    training.finish(session)


def _name_columns(estimator: RatioEstimator, names: Sequence[str]) -> None:
    """Set the column names in the diagnostics; the fit had none."""
    found = estimator.diagnostics_
    drift = tuple(replace(c, name=name) for c, name in zip(found.drift, names, strict=True))
    estimator.diagnostics_ = replace(found, drift=drift)


def _summary(estimator: RatioEstimator) -> dict[str, JSON]:
    """The diagnostics of a fitted ratio."""
    found = estimator.diagnostics_
    return {
        **fit_status(estimator),
        "steps": getattr(found, "steps", None),
        "best_step": getattr(found, "best_step", None),
        "held_out_loss": found.held_out_loss,
        "held_out_error": found.held_out_error,
        "mean_log_ratio": [found.mean_log_ratio_0, found.mean_log_ratio_1],
        "overlap": found.overlap,
        "overlap_error": found.overlap_error,
        "effective_sample_size": found.effective_sample_size,
        "log_normaliser": found.normaliser.log_value,
        "log_normaliser_error": found.normaliser.standard_error,
        "usable_for_weights": bool(found.verdict),
    }
