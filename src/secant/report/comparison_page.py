"""The page of a comparison of two samples."""

from __future__ import annotations

from pathlib import Path

from secant.report.blocks import (
    Block,
    Columns,
    Gauge,
    Gauges,
    Interval,
    Intervals,
    Note,
    Section,
    Text,
)
from secant.report.numbers import count, number, percent, subscripts
from secant.report.page import Page, made_by, reproduction, script, write_page
from secant.report.svg import (
    calibration_chart,
    column_chart,
    histogram_chart,
    secant_chart,
    training_chart,
)
from secant.report.tables import feature_table, fit_table, unlike_table
from secant.tasks.comparison_result import Comparison, Degree
from secant.tasks.divergence import Divergence
from secant.tasks.weight_support import WeightSupport

TONES = {
    Degree.SAME: "good",
    Degree.MILD: "mild",
    Degree.STRONG: "strong",
    Degree.APART: "apart",
}


def write_comparison(
    path: Path | str, comparison: Comparison, *, command: str | None = None
) -> None:
    """Write a comparison as one self-contained HTML file.

    Args:
        path: of the file.
        comparison: by `secant.compare`.
        command: the shell command that produced it, if any.
    """
    write_page(path, comparison_page(comparison, command=command))


def comparison_page(found: Comparison, *, command: str | None = None) -> Page:
    """The page before it is laid out."""
    is_same = found.degree is Degree.SAME
    changed = [] if is_same else [Section("What changed", _changed(found), "What changed")]
    rows = [] if is_same else [Section("Which rows carry the difference", _rows(found), "Rows")]
    return Page(
        title=f"{found.sample_names[0]} and {found.sample_names[1]}",
        sections=[
            *changed,
            Section(
                "Columns, one by one" if is_same else "Which columns carry the difference",
                _columns(found),
                "Columns",
            ),
            *rows,
            Section("How far apart, in numbers", _distance(found), "Numbers"),
            Section("Where the rows lie", _rows_lie(found), "Log ratio", is_folded=True),
            Section("The model and its fits", _belief(found), "Fit", is_folded=True),
            reproduction(
                command,
                [
                    ("seed", str(found.seed)),
                    ("seconds", f"{found.seconds:.1f}"),
                    *((k, v) for k, v in found.settings.items() if v != "None"),
                ],
                found.versions,
                script(found.call, "write_comparison", "In Python, with the rows as x_0 and x_1"),
            ),
        ],
        eyebrow="secant · comparison of two samples",
        headline=f"{found.degree.value}:",
        lead=_lead(found),
        tone=TONES[found.degree],
        about=_about(found),
        footer=made_by(found.versions["secant"]),
    )


def _lead(found: Comparison) -> str:
    """The size of the difference, its columns, and what to do next."""
    changes = f" Most of the difference is in {', '.join(found.changes)}." if found.changes else ""
    return f"{found.share_text}.{changes} {_advice(found)}"


def _advice(found: Comparison) -> str:
    zero, one = found.sample_names
    can_weight = found.kl.support.is_enough
    instead = "weight the rows (secant.importance_weights)" if can_weight else "collect rows where "
    instead += "" if can_weight else "both samples have some (too few are alike to weight them)"
    return {
        Degree.SAME: f"These rows give no reason to treat {one} differently from {zero}.",
        Degree.MILD: f"A model trained on {zero} should do about as well on {one}; look at the "
        "columns below.",
        Degree.STRONG: f"Before a model trained on {zero} is used on {one}, check the columns "
        f"below, then {instead} or train again.",
        Degree.APART: f"No weights make {zero} represent {one}: collect rows in between, or "
        f"train on {one} itself.",
    }[found.degree]


def _changed(found: Comparison) -> list[Block]:
    by_name = {c.name: c.direction(found.sample_names[1]) for c in found.features}
    charts = [column_chart(m, found.sample_names, by_name[m.name]) for m in found.margins]
    return [Columns(charts[i : i + 2]) for i in range(0, len(charts), 2)]


def _about(found: Comparison) -> str:
    n_0, n_1 = found.log_ratio_0.size, found.log_ratio_1.size
    zero, one = found.sample_names
    return f"{zero} has {n_0:,} rows, {one} has {n_1:,} rows; {len(found.feature_names)} columns."


def _distance(found: Comparison) -> list[Block]:
    divergences = [
        _interval("KL(p₁‖p₀)", found.kl, "mean log ratio over p₁"),
        _interval("KL(p₀‖p₁)", found.kl_reverse, "mean log ratio over p₀, with the opposite sign"),
        _interval("Jensen–Shannon", found.jensen_shannon, "symmetric, at most log 2 = 0.693"),
    ]
    notes = [Note(subscripts(note)) for note in found.notes]
    return [Columns([Intervals(divergences, "nats"), Gauges(_gauges(found))]), *notes]


def _interval(label: str, found: Divergence, hint: str) -> Interval:
    high = number(found.interval[1])
    text = f"{number(found.estimate)} nats" if found.is_resolved else f"at most {high} nats"
    return Interval(label, found.estimate, *found.interval, found.confidence, text, hint)


def _gauges(found: Comparison) -> list[Gauge]:
    zero, one = found.sample_names
    p = "p-value of equal distributions"
    return [
        Gauge(
            "Share in common",
            found.overlap,
            _share(found),
            hint=f"0: disjoint, 1: equal. {p}: {found.p_value:.2g}",
        ),
        _effective(f"Effective rows of {zero} as {one}", found.kl.support),
        _effective(f"Effective rows of {one} as {zero}", found.kl_reverse.support),
    ]


def _share(found: Comparison) -> str:
    low, high = (percent(end) for end in found.overlap_interval)
    if not found.total_variation.is_resolved:
        return f"at least {low}"
    return f"{percent(found.overlap)} ({low} to {high})"


def _effective(label: str, support: WeightSupport) -> Gauge:
    n = support.n_rows
    share = support.effective_sample_size / n
    text = f"{count(support.effective_sample_size)} of {n:,} ({percent(share)})"
    hint = f"Weighted by the ratio; a mean needs at least {count(support.least_rows)}"
    if not support.is_enough:
        hint = (
            f"Too few, or too uneven, for weighted means (Pareto shape {support.pareto_shape:.2f})"
        )
    return Gauge(label, share, text, support.least_rows / n, hint)


def _rows_lie(found: Comparison) -> list[Block]:
    histogram = histogram_chart(found.log_ratio_0, found.log_ratio_1, found.sample_names)
    one = found.sample_names[1]
    text = Text(
        f"The log ratio is log p₁ − log p₀: above 0, a row looks more like {one}. Every row is "
        f"scored out of fold. {found.why_no_path}"
    )
    if found.path is None:
        return [histogram, text]
    return [Columns([histogram, secant_chart(found.path, found.sample_names)]), text]


def _columns(found: Comparison) -> list[Block]:
    by_gradient = found.features[0].gradient is not None
    how = (
        "The contribution is by integrated gradients from rows of p₀ to rows of p₁, which add up "
        "to the difference of the mean log ratios; “replaced” is the fall of the log ratio when "
        "the column is replaced by draws from p₀. "
        if by_gradient
        else "The contribution is the fall of the log ratio when the column is replaced by draws "
        "from p₀. "
    )
    margins = (
        "Mean shift, Kolmogorov–Smirnov distance and its p-value are of the column alone. "
        "Bars show ± 2 standard errors."
    )
    return [feature_table(found.features), Text(how + margins)]


def _rows(found: Comparison) -> list[Block]:
    zero, one = found.sample_names
    order = [c.name for c in found.features]
    return [
        unlike_table(found.unlike_1, f"Rows of {one} least like {zero}", order),
        unlike_table(found.unlike_0, f"Rows of {zero} least like {one}", order),
        Text("Rows are counted from 0. Columns are ordered by contribution."),
    ]


def _belief(found: Comparison) -> list[Block]:
    training = training_chart(found.fits)
    calibration: Block = calibration_chart(found.calibration)
    charts = calibration if training is None else Columns([calibration, training])
    return [Text(f"Model: {found.model}."), charts, fit_table(found.fits)]
