"""The page of a closure: the weighted source against the target, with pulls."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from secant.report.blocks import Block, Cell, Column, Columns, Section, Table, Text
from secant.report.drawing import BLUE, INK, ORANGE, label
from secant.report.numbers import count, number, p_value, signed
from secant.report.page import Page, made_by, reproduction, write_page
from secant.report.svg import Drawing
from secant.tasks.weight_closure import Closure, ColumnClosure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CHARTS = 6  # columns that are drawn
_MOST_ROWS = 50


def write_closure(path: Path | str, closure: Closure, *, command: str | None = None) -> None:
    """Write a closure as one self-contained HTML file.

    Args:
        path: of the file.
        closure: by `secant.closure`.
        command: the shell command that produced it, if any.
    """
    write_page(path, closure_page(closure, command=command))


def closure_page(found: Closure, *, command: str | None = None) -> Page:
    """The page before it is laid out."""
    headline, _, lead = found.verdict.partition(";" if found.is_closed else ",")
    return Page(
        title=f"{found.sample_names[0]} weighted as {found.sample_names[1]}",
        sections=[
            Section("Column by column", _charts(found), "Charts"),
            Section("All columns", [_table(found), _how()], "Columns"),
            reproduction(command, _rows(found), found.versions),
        ],
        eyebrow="secant · closure of weights",
        headline=f"{headline}.",
        lead=f"{lead.strip()[:1].upper()}{lead.strip()[1:]}",
        tone="good" if found.is_closed else "strong",
        about=_about(found),
        footer=made_by(found.versions["secant"]),
    )


def _about(found: Closure) -> str:
    (source, target), (n, m) = found.sample_names, found.n_rows
    return f"{source} has {n:,} rows, {target} has {m:,} rows; {len(found.columns)} columns."


def _rows(found: Closure) -> list[tuple[str, str]]:
    return [
        (f"effective rows of {name}", f"{count(effective)} of {n:,}")
        for name, effective, n in zip(
            found.sample_names, found.effective_rows, found.n_rows, strict=True
        )
    ]


def _charts(found: Closure) -> list[Block]:
    return [
        Columns([_shares_chart(column, found.sample_names), _pulls_chart(column)])
        for column in found.columns[:_CHARTS]
    ]


def _shares_chart(column: ColumnClosure, names: tuple[str, str]) -> Drawing:
    ratio = f"χ² {number(column.chi2)} on {column.freedom} degrees of freedom"
    return Drawing(
        column.name,
        f"Shares of weight of {column.name} in {len(column.pulls)} bins: {names[0]} before and "
        f"after reweighting, and {names[1]}. {ratio}.",
        partial(_draw_shares, column=column, names=names),
        f"{ratio}, {number(column.chi2_before)} before reweighting. Bins hold equally many rows of "
        f"{names[1]}.",
    )


def _draw_shares(axes: Axes, column: ColumnClosure, names: tuple[str, str]) -> None:
    edges = np.arange(len(column.edges))
    axes.stairs(
        100.0 * column.share_target,
        edges,
        fill=True,
        alpha=0.28,
        color=ORANGE,
        label=label(names[1]),
    )
    axes.stairs(
        100.0 * column.share_before,
        edges,
        color=INK,
        linewidth=1.0,
        linestyle=":",
        label=label(f"{names[0]}, before"),
    )
    axes.stairs(
        100.0 * column.share_source,
        edges,
        color=BLUE,
        linewidth=1.6,
        label=label(f"{names[0]}, weighted"),
    )
    axes.set_ylabel("share of weight (%)")
    _name_bins(axes, column)
    axes.legend(frameon=False)


def _pulls_chart(column: ColumnClosure) -> Drawing:
    return Drawing(
        f"Pulls of {column.name}",
        f"Pulls of {len(column.pulls)} bins: {', '.join(signed(float(p)) for p in column.pulls)}.",
        partial(_draw_pulls, column=column),
        f"Difference over its standard error; the largest is {signed(column.largest_pull)}. "
        "About 1 in 20 is outside the dashed lines by chance.",
    )


def _draw_pulls(axes: Axes, column: ColumnClosure) -> None:
    axes.plot(
        np.arange(len(column.pulls)) + 0.5,
        column.pulls,
        linestyle="none",
        marker="o",
        markersize=5,
        color=BLUE,
    )
    for height, style in ((-2.0, "--"), (0.0, "-"), (2.0, "--")):
        axes.axhline(height, color=INK, linewidth=0.8, linestyle=style)
    reach = max(3.0, 1.1 * float(np.abs(column.pulls).max(initial=0.0)))
    axes.set_ylim(-reach, reach)
    axes.set_ylabel("pull")
    _name_bins(axes, column)


def _name_bins(axes: Axes, column: ColumnClosure) -> None:
    """A few edges of the bins, which have equal widths on the page."""
    ticks = np.unique(np.linspace(0, len(column.edges) - 1, 5).round().astype(int))
    axes.set_xticks(ticks, [f"{column.edges[i]:.3g}" for i in ticks])
    axes.set_xlabel(label(column.name, 60))


def _table(found: Closure) -> Table:
    shown = found.columns[:_MOST_ROWS]
    hidden = len(found.columns) - len(shown)
    more = f"; {hidden} that agree better are not shown" if hidden else ""
    return Table(
        f"{len(found.columns)} columns by χ² per degree of freedom{more}",
        [
            Column("column", is_number=False),
            *(Column(n) for n in ("χ²", "d.o.f.", "χ² before", "p-value", "largest pull")),
        ],
        [
            [
                Cell(c.name),
                Cell(number(c.chi2), c.chi2),
                Cell(str(c.freedom), c.freedom),
                Cell(number(c.chi2_before), c.chi2_before),
                Cell(p_value(c.p_value), c.p_value),
                Cell(signed(c.largest_pull), c.largest_pull),
            ]
            for c in shown
        ],
    )


def _how() -> Text:
    return Text(
        "A pull is the difference of the shares of weight in a bin over its standard error; χ² "
        "takes all bins of a column together. Weights count as known: if they were fitted to these "
        "rows of the target, pulls are somewhat too small."
    )
