"""The charts of a watch: evidence, share in common and columns, over the windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from secant.report.charts import HEIGHT, Axis, Chart, Dot, Key, Line, Shape, path_of, plane
from secant.report.numbers import percent, signed
from secant.tasks.monitoring_result import Monitoring

__all__ = ["column_course_chart", "evidence_chart", "overlap_chart"]

_MOST_LABELS = 3
_MOST_COLUMNS = 10
_LONGEST = 18  # characters of a column's name at the axis
_HEATS = (0.04, 0.12, 0.3, 0.6)  # of the largest contribution, where the shades begin
_LEAST_TOP = 0.2  # nats: smaller contributions are pale however small the others are


def evidence_chart(found: Monitoring) -> Chart:
    """The evidence over the windows, in powers of ten, with the alarm's line."""
    needed = -math.log10(found.level)
    course = [w.log_evidence / math.log(10.0) for w in found.windows if not w.is_open]
    x, y = _axes(found, "evidence (powers of ten)", [*course, 0.0, needed * 1.2])
    points = [(x(i), y(value)) for i, value in enumerate(course)]
    shapes: list[Shape] = [
        Line(path_of([(x.start, y(needed)), (x.end, y(needed))]), "dash-one"),
        Line(path_of(points), "line-accent"),
    ]
    if found.proof is not None:
        shapes.append(Dot(*points[found.proof], "dot-one", 6.0))
    factor = f"{1.0 / found.level:.3g}"
    first = "" if found.proof is None else f" It is crossed at {found.windows[found.proof].label}."
    return Chart(
        "Evidence of a change",
        f"A line over {len(course)} windows that starts at 1 and would have to reach {factor} for "
        f"an alarm.{first}",
        x,
        y,
        shapes,
        (Key("line-accent", "evidence"), Key("dash-one", f"{factor}: proved")),
        f"Of streams like the reference, at most {percent(found.level)} ever cross the line, "
        "however often one looks.",
    )


def overlap_chart(found: Monitoring) -> Chart:
    """The share in common of every window, with its interval and the band of the reference."""
    ends = [100.0 * end for _, c in found.compared for end in c.overlap_interval]
    x, y = _axes(found, "share in common (%)", [*ends, 100.0])
    y = replace(y, high=100.0, ticks=tuple(t for t in y.ticks if t <= 100.0))
    shapes: list[Shape] = []
    keys = [Key("dot", "window, with interval"), Key("dot-one", "since the change")]
    if found.band.n_blocks:
        low = y(100.0 * found.band.overlap)
        corners = [(x.start, low), (x.end, low), (x.end, y(100.0)), (x.start, y(100.0))]
        shapes.append(Line(path_of(corners, closed=True), "band"))
        keys.append(Key("band", "reference's own blocks"))
    for i, window in found.compared:
        is_late = found.since is not None and i >= found.since
        low, high = (y(100.0 * end) for end in window.overlap_interval)
        shapes.append(Line(path_of([(x(i), low), (x(i), high)]), "error-bar"))
        shapes.append(Dot(x(i), y(100.0 * window.overlap), "dot-one" if is_late else "dot", 3.5))
    return Chart(
        "Size of the difference",
        "The share that each window has in common with the reference: "
        + "; ".join(f"{found.windows[i].label} {percent(c.overlap)}" for i, c in found.compared),
        x,
        y,
        shapes,
        keys if found.since is not None else [key for key in keys if key.look != "dot-one"],
        "100 %: the same. This is the size of a difference, whether it is proved or not. "
        + found.band.words,
    )


def column_course_chart(found: Monitoring, names: Sequence[str]) -> Chart:
    """What columns carry in every window, as shades.

    Args:
        found: with windows that were compared.
        names: of the columns, the most important first.
    """
    shown = list(names[:_MOST_COLUMNS])
    x, _ = _axes(found, "", [0.0])
    x = replace(x, start=150.0)
    size = (x.end - x.start) / max(len(found.windows), 1)
    top, step = 32.0, min((HEIGHT - 90.0) / len(shown), 34.0)
    bottom = top + step * len(shown)
    y = Axis("", 0.0, float(len(shown)), top, bottom, tuple(i + 0.5 for i in range(len(shown))))
    y = replace(y, texts=tuple(_cut(name) for name in shown))
    values = {(c.name, i): c.contribution for i, w in found.compared for c in w.columns}
    most = max([_LEAST_TOP, *(v for (name, _), v in values.items() if name in shown)])
    shapes: list[Shape] = []
    for (name, i), value in values.items():
        heat = sum(value > least * most for least in _HEATS)
        if name in shown and heat:
            left, upper = x.start + i * size, y(shown.index(name))
            right, lower = left + max(size - 0.6, 0.6), upper + step - 1.0
            corners = [(left, upper), (right, upper), (right, lower), (left, lower)]
            shapes.append(Line(path_of(corners, closed=True), f"heat-{heat + 1}"))
    ticks = tuple(t + 0.5 for t in x.ticks)
    x = replace(x, low=0.0, high=float(max(len(found.windows), 1)), ticks=ticks)
    return Chart(
        "Columns over the windows",
        "What each column carries of the difference, window by window, as shades.",
        x,
        # The base line of a chart is at the start of its upward axis.
        replace(y, start=bottom, end=top, low=-y.high, high=0.0, ticks=tuple(-t for t in y.ticks)),
        shapes,
        (Key("heat-1", "hardly any"), Key("heat-3", "some"), Key("heat-5", f"{signed(most)} nats")),
        "Each column's part of the difference from the reference. Pale specks come and go by "
        "chance; a line that stays is a change.",
        height=round(bottom + 56.0),
    )


def _axes(found: Monitoring, label: str, values: Sequence[float]) -> tuple[Axis, Axis]:
    """Windows by their number below, with a few of their labels."""
    n = len(found.windows)
    x, y = plane((f"windows of {found.every}", [0.0, max(n - 1.0, 1.0)]), (label, values))
    step = max(math.ceil(n / _MOST_LABELS), 1)
    ticks = tuple(range(0, n, step))
    texts = tuple(_cut(found.windows[i].label) for i in ticks)
    return replace(x, ticks=tuple(map(float, ticks)), texts=texts), y


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
