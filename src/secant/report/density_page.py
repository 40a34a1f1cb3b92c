"""The page of a fitted density."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from secant._host.provenance import versions
from secant.report.blocks import Block, Cell, Code, Column, Columns, Note, Pairs, Section, Table
from secant.report.numbers import number, signed, with_error
from secant.report.page import Page, made_by, reproduction, write_page
from secant.report.svg import calibration_chart, distribution_chart, training_chart
from secant.tasks.cross_fitting import fit_record, resolved_settings
from secant.tasks.density import DensityEstimator


def write_density(
    path: Path | str,
    density: DensityEstimator,
    *,
    log_density: ArrayLike | None = None,
    command: str | None = None,
) -> None:
    """Write a fitted density as one self-contained HTML file.

    Args:
        path: of the file.
        density: a fitted `DensityEstimator`.
        log_density: (n,) of rows to show, by its `score_samples`.
        command: the shell command that produced it, if any.
    """
    write_page(path, density_page(density, log_density=log_density, command=command))


def density_page(
    density: DensityEstimator, *, log_density: ArrayLike | None = None, command: str | None = None
) -> Page:
    """The page before it is laid out."""
    check_is_fitted(density)
    scores = None if log_density is None else np.asarray(log_density, dtype=np.float64)
    sections = [Section("The density", _density(density))]
    if scores is not None and scores.size:
        sections.append(Section("The rows", _rows(scores)))
    sections.append(Section("Reliability of the fit", _belief(density), "Fit"))
    call = " ".join(repr(density).split())
    lines = f"import secant\ndensity = secant.{call}.fit(rows)\ndensity.score_samples(rows)"
    settings = list(resolved_settings(density.ratio_).items())
    sections.append(reproduction(command, settings, versions(), Code(lines, "In Python")))
    headline, lead = _verdict(density, scores)
    return Page(
        title="A learned density",
        sections=sections,
        eyebrow="secant · density",
        headline=headline,
        lead=lead,
        tone="good" if density.normalizer_.doubt is None else "mild",
        about=f"{density.n_features_in_} columns. Log densities are in nats per unit of the "
        "original columns.",
        footer=made_by(versions()["secant"]),
    )


def _verdict(density: DensityEstimator, scores: Float[np.ndarray, " n"] | None) -> tuple[str, str]:
    found = density.normalizer_
    lead = f"log Z = {with_error(found.value, found.standard_error)} nats, by {found.method}"
    if scores is not None:
        mean = number(float(scores.mean()), 4)
        lead += f"; mean log density of {scores.size:,} rows {mean} nats"
    is_sure = found.doubt is None
    headline = "The density is normalised:" if is_sure else "The density may be off by a constant:"
    return headline, f"{lead}."


def _density(density: DensityEstimator) -> list[Block]:
    found = density.normalizer_
    pairs = [
        ("base", _base(density)),
        ("ratio on top of it", type(density.ratio_).__name__),
        ("log Z, subtracted already", f"{with_error(found.value, found.standard_error)} nats"),
        ("found by", found.method),
        ("plain importance sampling", str(found.importance).replace("-", "−")),
    ]
    notes: list[Block] = []
    if found.doubt is not None:
        notes.append(
            Note(f"{found.doubt}. Use a base closer to the rows, such as base='copula-mixture'.")
        )
    return [Pairs(pairs), *notes]


def _base(density: DensityEstimator) -> str:
    if isinstance(density.base, str):
        return density.base
    parts = (density.base_.chart, density.base_.reference)
    return " on ".join(type(part).__name__ for part in parts[::-1])


def _rows(scores: Float[np.ndarray, " n"]) -> list[Block]:
    chart = distribution_chart(
        scores,
        title="Log density of the rows",
        quantity="log density (nats)",
        caption="Rows far to the left are outliers.",
    )
    unlikely = np.argsort(scores, kind="stable")[:10]
    rows = [
        [Cell(str(i), int(i)), Cell(signed(float(scores[i]), 4), float(scores[i]))]
        for i in unlikely
    ]
    return [
        Columns([chart, Table("Least likely rows", [Column("row"), Column("log density")], rows)])
    ]


def _belief(density: DensityEstimator) -> list[Block]:
    fit = fit_record(0, density.ratio_)
    blocks: list[Block] = []
    if fit.diagnostics is not None:
        blocks.append(calibration_chart(fit.diagnostics.calibration))
    training = training_chart([fit])
    return [Columns([*blocks, *([training] if training is not None else [])])]
