"""Diagnostics as plain text: the verdict first, then aligned lines in groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from secant._host.escaping import one_line
from secant.diagnostics.drift import FeatureDrift, top_drift
from secant.diagnostics.normaliser import largest_pareto_shape

if TYPE_CHECKING:
    from secant.diagnostics.ratio import RatioDiagnostics


Line = tuple[str, str]  # a name and its value

_WIDTH = 30  # of the names
_MOST_COLUMNS = 5
_WIDEST_NAME = 32


def report_text(found: RatioDiagnostics) -> str:
    """The whole report."""
    groups: list[tuple[str, list[str]]] = [
        ("fit", _named(_fit(found))),
        ("normaliser", _named(_normaliser(found))),
        ("overlap", _named(_overlap(found))),
        ("calibration", _named(_calibration(found))),
        ("self-check", _named(_self_check(found))),
        (_drift_title(found.drift), _drift(found.drift)),
    ]
    lines = [str(found.verdict)]
    for title, body in groups:
        if body:
            lines += ["", title, *(f"  {line}" for line in body)]
    return "\n".join(lines)


def _named(lines: Sequence[Line]) -> list[str]:
    return [f"{name:<{_WIDTH}}  {value}" for name, value in lines]


def _fit(found: RatioDiagnostics) -> list[Line]:
    return [
        *found.fit_lines,
        ("mean log ratio over x_1", f"{found.mean_log_ratio_1:+.3f} nats (KL(p_1‖p_0) if exact)"),
        ("mean log ratio over x_0", f"{found.mean_log_ratio_0:+.3f} nats (−KL(p_0‖p_1) if exact)"),
    ]


def _normaliser(found: RatioDiagnostics) -> list[Line]:
    average = found.normaliser
    doubt = "" if average.is_reliable else ", unreliable"
    most = largest_pareto_shape(found.n_rows)
    rows = f"{found.effective_sample_size:.1f} of {found.n_rows} held-out rows of x_0"
    return [
        (
            "log Ẑ (0 if exact)",
            f"{average.log_value:+.3f} ± {average.standard_error:.3f} nats{doubt}",
        ),
        ("Pareto shape of the weights", f"{average.pareto_shape:.2f} (reliable below {most:.2f})"),
        ("effective sample size", rows),
    ]


def _overlap(found: RatioDiagnostics) -> list[Line]:
    share = f"{found.overlap:.3f} ± {found.overlap_error:.3f} (0: nothing, 1: the same)"
    return [("share in common", share)]


def _calibration(found: RatioDiagnostics) -> list[Line]:
    line = found.calibration.recalibration
    if not line.is_known:
        return [("slope", "unknown: the held-out log ratios are separated, or all equal")]
    return [
        ("slope (1 if calibrated)", f"{line.slope:.3f} ± {line.slope_error:.3f}"),
        ("intercept (0 if calibrated)", f"{line.intercept:+.3f} ± {line.intercept_error:.3f} nats"),
    ]


def _self_check(found: RatioDiagnostics) -> list[Line]:
    check = found.self_check
    if check is None:
        return []
    gap = f"mean {check.mean:+.2g}, root mean square {check.root_mean_square:.2g} nats"
    return [("one step less many steps", gap)]


def _drift_title(drift: Sequence[FeatureDrift]) -> str:
    shown = f", the {_MOST_COLUMNS} largest of {len(drift)}" if len(drift) > _MOST_COLUMNS else ""
    return f"feature drift, x_0 to x_1{shown}"


def _drift(drift: Sequence[FeatureDrift]) -> list[str]:
    if not drift:
        return []
    header = ("column", "mean shift (s.d.)", "KS distance", "p-value")
    rows = [
        (c.name, f"{c.mean_shift:+.2f}", f"{c.ks_distance:.3f}", f"{c.p_value:.2g}")
        for c in top_drift(drift, _MOST_COLUMNS)
    ]
    return aligned([header, *rows])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines: the first column to the left, numbers to the right, long names cut."""
    cut = [(_cut(one_line(row[0])), *row[1:]) for row in rows]
    widths = [max(len(row[i]) for row in cut) for i in range(len(cut[0]))]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in cut
    ]


def _cut(name: str) -> str:
    return name if len(name) <= _WIDEST_NAME else name[: _WIDEST_NAME - 1] + "…"
