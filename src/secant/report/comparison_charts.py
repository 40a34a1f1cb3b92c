"""The charts of a comparison: histogram, secants, calibration and training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from secant.diagnostics import CalibrationCurve
from secant.report.charts import Axis, Chart, Dot, Key, Line, Shape, path_of, places, plane
from secant.report.histograms import histogram_axes, histogram_edges, steps_of
from secant.report.numbers import number, percent, signed
from secant.tasks.comparison_result import ColumnHistogram
from secant.tasks.cross_fitting import FitRecord
from secant.tasks.path_picture import PathPicture

__all__ = [
    "calibration_chart",
    "column_chart",
    "histogram_chart",
    "secant_chart",
    "training_chart",
]

Values = Float[np.ndarray, " n"]


def histogram_chart(zero: Values, one: Values, names: tuple[str, str]) -> Chart:
    """The log ratio over the rows of both samples, each as shares of its own rows."""
    edges = histogram_edges(np.concatenate([zero, one]))
    x, y, shares = histogram_axes("log ratio, out of fold (nats)", edges, [zero, one])
    shapes: list[Shape] = [
        Line(steps_of(x, y, edges, share), look)
        for share, look in zip(shares, ("area-zero", "area-one"), strict=True)
    ]
    if x.low < 0.0 < x.high:
        shapes.append(Line(path_of([(x(0.0), y.start), (x(0.0), y.end)]), "dash-ink"))
    medians = [float(np.median(v)) for v in (zero, one)]
    return Chart(
        "Log ratio of every row",
        f"Two histograms. Rows of {names[0]} have a median log ratio of {signed(medians[0])} nats, "
        f"rows of {names[1]} of {signed(medians[1])}.",
        x,
        y,
        shapes,
        (Key("area-zero", names[0]), Key("area-one", names[1])),
        f"Medians {signed(medians[0])} and {signed(medians[1])} nats. Right of 0 a row looks more "
        "like the second sample. Outliers are gathered in the end bins.",
    )


def column_chart(column: ColumnHistogram, names: tuple[str, str], caption: str) -> Chart:
    """One column in both samples, each as shares of its own rows."""
    shares = [100.0 * share for share in (column.share_0, column.share_1)]
    top = max(float(share.max()) for share in shares)
    x, y = plane((column.name, column.edges), ("share of rows (%)", [0.0, top]), n_ticks=(5, 3))
    y = replace(y, low=0.0, ticks=tuple(t for t in y.ticks if t >= 0.0))
    return Chart(
        column.name,
        f"Two histograms of {column.name}: {caption}.",
        x,
        y,
        [
            Line(steps_of(x, y, column.edges, share), look)
            for share, look in zip(shares, ("area-zero", "area-one"), strict=True)
        ],
        (Key("area-zero", names[0]), Key("area-one", names[1])),
        f"{caption[0].upper()}{caption[1:]}.",
    )


def secant_chart(picture: PathPicture, names: tuple[str, str]) -> Chart:
    """log p_t along the path for typical rows, each with its secant over the whole of it."""
    everything = np.concatenate([line.rise for line in picture.lines])
    x, y = plane(("time t on the path", [0.0, 1.0]), ("log pₜ(x) − log p₀(x) (nats)", everything))
    shapes: list[Shape] = [Line(path_of([(x.start, y(0.0)), (x.end, y(0.0))]), "line-ink")]
    for line in picture.lines:
        colour = "one" if line.sample else "zero"
        chord = np.array([[0.0, 0.0], [1.0, line.log_ratio]])
        shapes.append(Line(path_of(places(x, y, chord)), f"thin-{colour}"))
        points = np.column_stack([picture.times, line.rise])
        shapes.append(Line(path_of(places(x, y, points)), f"line-{colour}"))
        shapes.append(Dot(x(1.0), y(line.log_ratio), f"dot-{colour}"))
    told = "; ".join(
        f"{names[line.sample]}, quantile {percent(line.quantile)}: {signed(line.log_ratio)}"
        for line in picture.lines
    )
    return Chart(
        "Typical rows along the path",
        f"How the log density of six rows moves from p₀ to p₁. Log ratios at the end: {told} nats.",
        x,
        y,
        shapes,
        (Key("line-zero", names[0]), Key("line-one", names[1]), Key("thin-zero", "secant")),
        "Rows at the 10, 50 and 90 % quantiles of each sample's log ratio. A dotted secant joins "
        "the ends of its curve: its slope is the row's log ratio, learned in one pass.",
    )


def calibration_chart(curve: CalibrationCurve) -> Chart:
    """Observed against predicted log odds with two standard errors, and the line through them."""
    reach = 2.0 * curve.standard_error
    x, y = plane(
        ("predicted log odds (nats)", curve.predicted),
        (
            "observed log odds (nats)",
            np.concatenate([curve.predicted, curve.observed - reach, curve.observed + reach]),
        ),
    )
    ends = np.array([max(x.low, y.low), min(x.high, y.high)])
    shapes: list[Shape] = [Line(path_of(places(x, y, np.column_stack([ends, ends]))), "line-ink")]
    keys = [Key("line-ink", "calibrated"), Key("dot", "± 2 standard errors")]
    line = curve.recalibration
    if line.is_known:
        fitted = _clipped_line(line.slope, line.intercept, x, y)
        shapes.append(Line(path_of(places(x, y, fitted)), "dash-one"))
        keys.append(Key("dash-one", f"slope {line.slope:.2f} ± {line.slope_error:.2f}"))
    for i in range(curve.n_bins):
        shapes += _bin(curve, i, x, y)
    return Chart(
        "Calibration",
        _calibration_words(curve),
        x,
        y,
        shapes,
        keys,
        "Each point is a bin of rows of both samples, scored by fits that have not seen them. "
        "On the line, a row says what it should. Open points are bounds: rows of one sample only.",
    )


def _clipped_line(slope: float, intercept: float, x: Axis, y: Axis) -> Float[np.ndarray, "k 2"]:
    """The part of a line that lies on the paper."""
    grid = np.linspace(x.low, x.high, 200)
    points = np.column_stack([grid, intercept + slope * grid])
    return points[(points[:, 1] >= y.low) & (points[:, 1] <= y.high)][[0, -1]]


def _bin(curve: CalibrationCurve, i: int, x: Axis, y: Axis) -> list[Shape]:
    place, observed = x(curve.predicted[i]), float(curve.observed[i])
    reach = 2.0 * float(curve.standard_error[i])
    bar = path_of([(place, y(observed - reach)), (place, y(observed + reach))])
    look = "dot-open" if curve.is_bound[i] else "dot"
    return [Line(bar, "error-bar"), Dot(place, y(observed), look, 4.5)]


def _calibration_words(curve: CalibrationCurve) -> str:
    pairs = zip(curve.predicted.tolist(), curve.observed.tolist(), strict=True)
    return "Predicted and observed log odds, bin by bin: " + "; ".join(
        f"{number(p)} and {number(o)}" for p, o in pairs
    )


def training_chart(fits: Sequence[FitRecord]) -> Chart | None:
    """The held-out loss by steps, one line a fit; None where nothing was trained by steps."""
    trained = [fit for fit in fits if len(fit.history) > 1]
    if not trained:
        return None
    tables = [np.array([(r.step, r.held_out, r.loss) for r in fit.history]) for fit in trained]
    held = np.concatenate([t[:, 1] for t in tables])
    losses = np.concatenate([t[:, 2] for t in tables])
    steps = np.concatenate([t[:, 0] for t in tables])
    x, y = plane(("training steps", steps), ("loss", _with_losses(held, losses)))
    shapes: list[Shape] = []
    for table in tables:
        seen = table[(table[:, 2] >= y.low) & (table[:, 2] <= y.high)]
        shapes.append(Line(path_of(places(x, y, seen[:, [0, 2]])), "thin-one"))
        shapes.append(Line(path_of(places(x, y, table[:, :2])), "line-accent"))
        best = table[np.nanargmin(table[:, 1])]
        shapes.append(Dot(x(best[0]), y(best[1]), "dot", 4.5))
    shown = np.isfinite(losses).any()
    return Chart(
        "Training",
        f"The held-out loss of {len(trained)} fits falls to "
        f"{', '.join(number(float(np.nanmin(t[:, 1]))) for t in tables)}.",
        x,
        y,
        shapes,
        (
            Key("line-accent", "held-out loss"),
            *((Key("thin-one", "training loss"),) if shown else ()),
        ),
        "One line a fit. The dot is the state that was kept: the lowest held-out loss.",
    )


def _with_losses(held: Values, losses: Values) -> Values:
    """The losses that the axis must hold: held-out ones, and training ones not far from them."""
    finite = held[np.isfinite(held)]
    if not finite.size:
        return losses
    reach = float(np.ptp(finite))
    near = (losses >= finite.min() - reach) & (losses <= finite.max() + reach)
    return np.concatenate([finite, losses[near]])
