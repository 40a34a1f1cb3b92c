"""The pages of mutual information, of one pair and of all pairs of columns."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from secant._host.provenance import versions
from secant.diagnostics import RatioDiagnostics
from secant.report.blocks import (
    Block,
    Cell,
    Column,
    Columns,
    HeatMap,
    Interval,
    Intervals,
    Note,
    Pairs,
    Section,
    Table,
    Text,
)
from secant.report.numbers import number, p_value, with_error
from secant.report.page import Page, made_by, reproduction, write_page
from secant.report.svg import calibration_chart, distribution_chart
from secant.tasks.inference import normal_interval
from secant.tasks.information import MutualInformation, OnPath
from secant.tasks.mi_matrix import MutualInformationMatrix

_LEVEL = 0.05
_MOST_NAMES = 24  # of a readable heat map


def write_information(
    path: Path | str,
    found: MutualInformation,
    *,
    names: tuple[str, str] = ("x", "y"),
    command: str | None = None,
) -> None:
    """Write mutual information as one self-contained HTML file.

    Args:
        path: of the file.
        found: by `secant.mutual_information` or `secant.total_correlation`.
        names: of the two sides.
        command: the shell command that produced it, if any.
    """
    write_page(path, information_page(found, names=names, command=command))


def information_page(
    found: MutualInformation, *, names: tuple[str, str] = ("x", "y"), command: str | None = None
) -> Page:
    """The page before it is laid out."""
    sections = [Section("How much", _amount(found))]
    if found.pointwise is not None:
        sections.append(Section("Contributions of rows", _pointwise(found), "Rows"))
    if found.diagnostics:
        sections.append(Section("Reliability of the fits", _fits(found.diagnostics), "Fits"))
    sections.append(reproduction(command, list(found.settings.items()), versions()))
    headline, lead, tone = _verdict(found, names)
    return Page(
        title=f"Mutual information of {names[0]} and {names[1]}",
        sections=sections,
        eyebrow="secant · mutual information",
        headline=headline,
        lead=lead,
        tone=tone,
        footer=made_by(versions()["secant"]),
    )


def _verdict(found: MutualInformation, names: tuple[str, str]) -> tuple[str, str, str]:
    low, high = found.interval
    numbers = (
        f"{number(found.estimate)} {found.base} ({100 * found.confidence:g} % interval "
        f"{number(low)} to {number(high)}), p-value of independence {p_value(found.p_value)}."
    )
    depends = found.p_value < _LEVEL or (math.isnan(found.p_value) and low > 0.0)
    if not depends:
        return "No dependence was found:", numbers, "good"
    return f"{names[0]} and {names[1]} depend on each other:", numbers, "strong"


def _amount(found: MutualInformation) -> list[Block]:
    rows = [_interval("Mutual information", found, found)]
    if found.on_path is not None:
        rows.append(_interval("Independent estimate, along the path", found.on_path, found))
    notes: list[Block] = []
    if found.opinions_differ:
        notes.append(Note("The two estimates differ by more than their errors. Use more rows."))
    if not found.is_normalised and found.pointwise is not None:
        notes.append(
            Note("The ratio could not be normalised: its tail is too heavy. Use more rows.")
        )
    facts = Pairs(
        [
            ("p-value of independence", p_value(found.p_value)),
            ("correction for few rows, included", f"{number(found.correction)} {found.base}"),
        ]
    )
    return [Columns([Intervals(rows, found.base), facts]), *notes]


def _interval(label: str, one: MutualInformation | OnPath, found: MutualInformation) -> Interval:
    ends = normal_interval(one.estimate, one.standard_error, found.confidence)
    text = f"{with_error(one.estimate, one.standard_error)} {found.base}"
    return Interval(label, one.estimate, *ends, found.confidence, text)


def _pointwise(found: MutualInformation) -> list[Block]:
    assert found.pointwise is not None
    top = np.argsort(-found.pointwise, kind="stable")[:10]
    rows = [
        [Cell(str(i), int(i)), Cell(number(float(found.pointwise[i])), float(found.pointwise[i]))]
        for i in top
    ]
    chart = distribution_chart(
        found.pointwise,
        title="Information of every row",
        quantity=f"pointwise information ({found.base})",
        caption="The mean is the estimate. A row below 0 combines values that occur together less "
        "often than under independence.",
    )
    table = Table(
        "Rows with the most", [Column("row"), Column(f"information ({found.base})")], rows
    )
    return [Columns([chart, table])]


def _fits(diagnostics: tuple[RatioDiagnostics, ...]) -> list[Block]:
    rows = [
        [
            Cell(str(k + 1), k + 1),
            Cell(with_error(d.held_out_loss, d.held_out_error), d.held_out_loss),
            Cell(number(d.mean_log_ratio_1), d.mean_log_ratio_1),
            Cell(f"{d.effective_sample_size:,.0f} of {d.n_rows:,}", d.effective_sample_size),
            Cell(f"{d.calibration.recalibration.slope:.2f}", d.calibration.recalibration.slope),
        ]
        for k, d in enumerate(diagnostics)
    ]
    names = ("fit", "held-out loss", "mean log ratio", "effective rows", "calibration slope")
    table = Table("Fits, on rows they were not trained on", [Column(n) for n in names], rows)
    return [Columns([calibration_chart(diagnostics[0].calibration), table])]


def write_matrix(
    path: Path | str, found: MutualInformationMatrix, *, command: str | None = None
) -> None:
    """Write the matrix of mutual information as one self-contained HTML file.

    Args:
        path: of the file.
        found: by `secant.mutual_information_matrix`.
        command: the shell command that produced it, if any.
    """
    write_page(path, matrix_page(found, command=command))


def matrix_page(found: MutualInformationMatrix, *, command: str | None = None) -> Page:
    """The page before it is laid out."""
    d = len(found.names)
    pairs = found.strongest(d * (d - 1) // 2)
    sure = sum(1 for p in pairs if found.adjusted_p_value[p] <= _LEVEL)
    first = pairs[0]
    strongest = (
        f"the strongest are “{found.names[first[0]]}” and “{found.names[first[1]]}” with "
        f"{with_error(float(found.estimate[first]), float(found.standard_error[first]))} "
        f"{found.base}."
    )
    blocks: list[Block] = [] if len(found.names) > _MOST_NAMES else [_heat_map(found)]
    return Page(
        title="Mutual information of columns",
        sections=[
            Section("All pairs", [*blocks, Text(_HOW_TO_READ)]),
            Section("Pairs by strength", [_pair_table(found, pairs)], "By strength"),
            reproduction(command, list(found.settings.items()), versions()),
        ],
        eyebrow="secant · mutual information of columns",
        headline=f"{sure} of {len(pairs)} pairs depend on each other (adjusted p ≤ {_LEVEL:g}):",
        lead=strongest,
        tone="strong" if sure else "good",
        about=f"{len(found.names)} columns, in {found.base}.",
        footer=made_by(versions()["secant"]),
    )


_HOW_TO_READ = (
    "A dot marks an adjusted p-value ≤ 0.05 (Benjamini and Hochberg): at most 5 % of the pairs "
    "with a dot are expected to be there by chance. "
    "An estimate may be a little below 0 where there is no dependence."
)


def _heat_map(found: MutualInformationMatrix) -> HeatMap:
    top = max(float(np.nanmax(found.estimate)), 1e-9)
    d = range(len(found.names))

    def cell(i: int, j: int) -> tuple[str, float]:
        value = float(found.estimate[i, j])
        if math.isnan(value):
            return "", 0.0
        mark = " •" if found.adjusted_p_value[i, j] <= _LEVEL else ""
        return f"{value:.2f}{mark}".replace("-", "−"), min(max(value / top, 0.0), 1.0)

    return HeatMap(
        f"Mutual information ({found.base})", found.names, [[cell(i, j) for j in d] for i in d]
    )


def _pair_table(found: MutualInformationMatrix, pairs: list[tuple[int, int]]) -> Table:
    rows = [
        [
            Cell(found.names[i]),
            Cell(found.names[j]),
            Cell(
                with_error(float(found.estimate[i, j]), float(found.standard_error[i, j])),
                float(found.estimate[i, j]),
            ),
            Cell(p_value(float(found.p_value[i, j])), float(found.p_value[i, j])),
            Cell(p_value(float(found.adjusted_p_value[i, j])), float(found.adjusted_p_value[i, j])),
        ]
        for i, j in pairs[:200]
    ]
    more = f", the first 200 of {len(pairs)}" if len(pairs) > 200 else ""
    columns = [
        Column("column", is_number=False),
        Column("and", is_number=False),
        Column(f"information ({found.base})"),
        Column("p-value"),
        Column("adjusted p"),
    ]
    return Table(f"Pairs of columns, the strongest first{more}", columns, rows)
