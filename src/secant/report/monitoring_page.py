"""The page of monitoring: verdict, changed columns, time of the change, rows, advice."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from secant.report.blocks import Block, Column, Columns, Note, Pairs, Section, Table, Text
from secant.report.comparison_page import TONES
from secant.report.numbers import number, percent, signed
from secant.report.page import Page, made_by, reproduction, script, write_page
from secant.report.svg import column_course_chart, evidence_chart, overlap_chart
from secant.report.tables import text_table
from secant.tables.errors import counted
from secant.tasks.comparison_result import Degree
from secant.tasks.monitoring_result import Monitoring
from secant.tasks.monitoring_state import WindowComparison

__all__ = ["monitoring_page", "write_monitoring"]

_MOST_CELLS = 6  # columns of the table of rows
_SIZES = {Degree.MILD: "The change is mild", Degree.STRONG: "The change is strong"}


def write_monitoring(path: Path | str, found: Monitoring, *, command: str | None = None) -> None:
    """Write a result of monitoring as one self-contained HTML file.

    Args:
        path: of the file.
        found: by `secant.monitor`.
        command: the shell command that produced it, if any.
    """
    write_page(path, monitoring_page(found, command=command))


def monitoring_page(found: Monitoring, *, command: str | None = None) -> Page:
    """The page before it is laid out."""
    changed = found.proof is not None
    when = "Since when" if changed else "Over time"
    sections = [
        *([Section("What changed", [_columns(found)])] if changed and found.columns else []),
        *([Section(when, _course(found))] if found.compared else []),
        *([Section("Which rows", _rows(found))] if changed and found.compared else []),
        Section("What to do", [Text(text) for text in _advice(found)]),
        Section("All windows", _windows(found)),
        reproduction(
            command,
            [
                ("level", f"{found.level:g}"),
                ("tolerated share in common", f"{found.least_overlap:g}"),
                ("seed", str(found.seed)),
                ("windows compared now", str(found.n_new)),
                ("seconds", f"{found.seconds:.1f}"),
            ],
            found.versions,
            script(found.call, "write_monitoring", "In Python"),
        ),
    ]
    return Page(
        title=f"{found.sample_names[1]} against {found.sample_names[0]}",
        sections=sections,
        eyebrow="secant · monitoring of a stream",
        headline=f"{found.headline}.",
        lead=_lead(found),
        tone=TONES[found.degree],
        about=_about(found),
        footer=made_by(found.versions["secant"]),
    )


def _lead(found: Monitoring) -> str:
    if found.proof is None:
        n = len(found.compared)
        return (
            f"No change was found in {n} window{'' if n == 1 else 's'}."
            if n
            else "No window could be compared yet; the reasons are below."
        )
    size = _SIZES.get(found.degree, "Hardly anything is left in common")
    carried = ", ".join(f"“{c.name}” ({c.direction})" for c in found.columns[:3])
    what = f" Most of it is in {carried}." if carried else ""
    alarm = "" if found.has_alarm else " No alarm: a change of this size is tolerated."
    proved = f" It was proved at {found.windows[found.proof].label}."
    return f"{size}: {percent(found.overlap)} in common with the reference.{what}{proved}{alarm}"


def _about(found: Monitoring) -> str:
    rows = sum(w.n_rows for w in found.windows)
    zone = f" Times are in {found.zone}." if found.zone else ""
    return (
        f"{found.n_reference:,} rows of reference; {rows:,} rows in {len(found.windows)} windows "
        f"of {found.every}, {len(found.compared)} of them compared.{zone}"
    )


def _columns(found: Monitoring) -> Table:
    n = sum(i >= (found.since or 0) for i, _ in found.compared)
    rows = [
        (
            c.name,
            c.direction,
            c.since,
            f"{c.n_windows} of {n}",
            signed(c.mean_shift, 2) if math.isfinite(c.mean_shift) else "–",
            number(c.contribution),
        )
        for c in found.columns
    ]
    header = ("column", "how", "first seen", "windows", "shift (s.d.)", "contribution (nats)")
    table = text_table("Columns with the largest contributions since the change", header, rows)
    words = [Column(c.name, is_number=i > 2 and c.is_number) for i, c in enumerate(table.columns)]
    return replace(table, columns=words)


def _course(found: Monitoring) -> list[Block]:
    names = [c.name for c in found.columns]
    total: dict[str, float] = {}
    for _, window in found.compared:
        for column in window.columns:
            total[column.name] = total.get(column.name, 0.0) + column.contribution
    names += sorted((n for n in total if n not in names), key=lambda n: -total[n])
    charts = [evidence_chart(found), overlap_chart(found)]
    return [Columns(charts), Columns([column_course_chart(found, names), _latest(found)])]


def _latest(found: Monitoring) -> Pairs:
    """The last window that was compared."""
    assert found.latest is not None
    i, window = found.latest
    low, high = (percent(end) for end in window.overlap_interval)
    changed = ", ".join(f"{c.name} ({c.direction})" for c in window.changed)
    is_doubtful = found.proof is None and window.changed
    chance = "; so does 1 window in 20 by chance" if is_doubtful else ""
    return Pairs(
        [
            ("Latest window", found.windows[i].label),
            ("Alone", f"{window.degree.value.lower()} (p-value {window.p_value:.2g}){chance}"),
            ("Share in common", f"{low} to {high}"),
            ("Most in", changed or "–"),
            ("Model", window.model.split(" (")[0]),
        ]
    )


def _rows(found: Monitoring) -> list[Block]:
    """The rows of the latest window that are least like the reference."""
    assert found.latest is not None
    i, window = found.latest
    first = [column.name.split("=")[0].removesuffix(" (days)") for column in window.columns]
    rank = {name: place for place, name in reversed(list(enumerate(first)))}
    order = sorted(range(len(window.row_columns)), key=lambda k: _rank(window, k, rank))
    shown = order[:_MOST_CELLS]
    rows = [
        (str(row), signed(score), *(cells[k] for k in shown))
        for row, score, cells in zip(window.rows, window.row_scores, window.cells, strict=True)
    ]
    header = ("row", "log ratio (nats)", *(window.row_columns[k] for k in shown))
    caption = f"Rows of the latest window, {found.windows[i].label}, least like the reference"
    return [
        text_table(caption, header, rows),
        Text(
            "Rows are counted from 0 in the stream. The log ratio says how much more likely a "
            "row is now than in the reference; it is scored out of fold."
        ),
    ]


def _rank(window: WindowComparison, k: int, rank: dict[str, int]) -> int:
    return rank.get(window.row_columns[k], len(rank))


def _advice(found: Monitoring) -> list[str]:
    texts = []
    if found.proof is None:
        texts.append("Nothing: no change was found.")
    else:
        texts.append(
            f"Find out what happened around {found.windows[found.since or 0].label}: a new source, "
            "a new unit, a new group of users, a broken sensor. The columns above say where to "
            "look, the rows above are examples."
        )
        texts.append(
            {
                Degree.MILD: "A model trained on the reference should do about as well. Measure "
                "it with secant.estimate_performance before you change anything.",
                Degree.STRONG: "Check models trained on the reference with "
                "secant.estimate_performance; weight its rows (secant.importance_weights) or "
                "train them again on rows since the change.",
            }.get(
                found.degree,
                "Do not use models trained on the reference for these rows. Train again on rows "
                "since the change.",
            )
        )
        texts.append(
            "If the change is permanent, use the rows since then as a new reference, with a new "
            "state file."
        )
    gone = sorted({name for w in found.windows for name in w.gone})
    if gone:
        first = next(w.label for w in found.windows if w.gone)
        named = ", ".join(f"“{name}”" for name in gone)
        texts.append(f"{named}: no value in some windows, first in {first}. Repair the source.")
    if found.unusable:
        texts.append(
            f"Not compared: {counted(len(found.unusable), 'window')}; the table says why. Use "
            "longer windows if they have too few rows."
        )
    return texts


def _windows(found: Monitoring) -> list[Block]:
    header = ("window", "rows", "in common", "KL (nats)", "p-value", "evidence", "changed")
    rows = [found.cells(i) for i in range(len(found.windows))]
    return [
        *(Note(note) for note in found.notes),
        text_table(f"{len(rows)} windows", header, rows),
        Text(
            "“In common” is the share that a window and the reference have in common; “≥” and “≤” "
            "mark bounds where no difference is resolved. The p-value is of the window alone: 1 in "
            "20 is below 0.05 by chance. The evidence is over all windows so far, and is valid at "
            "any number of looks."
        ),
    ]
