"""Charts: where values lie on the paper, and what the words say."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from secant.diagnostics import calibration_curve
from secant.report.charts import Axis, Dot, Line, axis, round_ticks
from secant.report.comparison_charts import (
    calibration_chart,
    histogram_chart,
    secant_chart,
    training_chart,
)
from secant.report.histograms import histogram_axes, histogram_edges
from secant.report.numbers import number, p_value, percent, signed, subscripts, with_error
from secant.report.tables import feature_table, text_table, unlike_table


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)), (-3.1, 4.2, (-3, -2, -1, 0, 1, 2, 3, 4))],
)
def test_ticks_are_round(low, high, ticks):
    assert round_ticks(low, high) == pytest.approx(ticks)


def test_an_axis_places_values_and_keeps_those_beyond_on_its_ends():
    scale = Axis("x", 0.0, 10.0, 100.0, 20.0, (0.0, 5.0))
    assert [scale(v) for v in (0.0, 5.0, 10.0, 99.0, -1.0)] == [100.0, 60.0, 20.0, 20.0, 100.0]
    assert scale(math.nan) == 100.0
    assert scale.marks == [(100.0, "0"), (60.0, "5")]


@pytest.mark.parametrize("values", [[], [math.nan], [3.0], [0.0, 0.0], [1e9, 1e9 + 1e-7]])
def test_an_axis_of_nothing_or_of_one_value_still_has_a_scale(values):
    scale = axis("x", values, (0.0, 100.0))
    assert scale.low < scale.high
    assert len(scale.ticks) >= 2


def test_histograms_hold_every_row_and_outliers_do_not_spoil_them():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=1000), [1e6, -1e6]])
    edges = histogram_edges(values)
    assert edges[0] > -10.0
    assert edges[-1] < 10.0
    _, y, (heights,) = histogram_axes("v", edges, [values])
    assert heights.sum() == pytest.approx(100.0)
    assert y.low == 0.0
    assert np.diff(histogram_edges(np.zeros(5))).min() > 0.0


def test_a_histogram_tells_both_medians():
    chart = histogram_chart(np.full(9, -1.0), np.full(9, 2.0), ("old", "new"))
    assert "old have a median log ratio of −1.00" in chart.description
    assert [key.text for key in chart.keys] == ["old", "new"]


def test_secants_join_the_ends_of_their_curves(found):
    chart = secant_chart(found.path, ("old", "new"))
    dots = [s for s in chart.shapes if isinstance(s, Dot)]
    assert len(dots) == len(found.path.lines)
    for dot, line in zip(dots, found.path.lines, strict=True):
        assert (dot.x, dot.y) == (chart.x(1.0), chart.y(line.log_ratio))
        ends = f"L{dot.x:.2f} {dot.y:.2f}"
        assert sum(s.data.endswith(ends) for s in chart.shapes if isinstance(s, Line)) == 2


def test_a_calibrated_ratio_lies_on_the_diagonal():
    rng = np.random.default_rng(0)
    zero, one = rng.normal(-0.5, 1.0, 20_000), rng.normal(0.5, 1.0, 20_000)
    curve = calibration_curve(zero, one)  # of unit normals one apart the log ratio is x itself
    chart = calibration_chart(curve)
    dots = [s for s in chart.shapes if isinstance(s, Dot)]
    assert len(dots) == curve.n_bins
    for dot, predicted, error in zip(dots, curve.predicted, curve.standard_error, strict=True):
        allowed = abs(chart.y(predicted + 4.5 * error) - chart.y(predicted))
        assert abs(dot.y - chart.y(predicted)) <= allowed
    assert curve.recalibration.slope == pytest.approx(1.0, abs=0.06)
    assert chart.keys[2].text == f"slope {curve.recalibration.slope:.2f} ± 0.01"


def test_a_calibration_of_samples_apart_has_open_points_and_no_line():
    chart = calibration_chart(calibration_curve(np.linspace(-9, -8, 50), np.linspace(8, 9, 50)))
    assert {s.look for s in chart.shapes if isinstance(s, Dot)} == {"dot-open"}
    assert len(chart.keys) == 2


def test_training_marks_the_state_that_was_kept(found):
    chart = training_chart(found.fits)
    dots = [s for s in chart.shapes if isinstance(s, Dot)]
    assert {(d.x, d.y) for d in dots} == {(chart.x(40), chart.y(1.0))}
    assert training_chart([replace(fit, history=()) for fit in found.fits]) is None


def test_bars_are_in_proportion_to_what_columns_carry(found):
    table = feature_table(found.features)
    bars = [row[1].bar for row in table.rows]
    values = [c.contribution for c in found.features]
    assert bars[0].width / bars[1].width == pytest.approx(values[0] / values[1], rel=0.05)
    assert bars[0].low < bars[0].start + bars[0].width < bars[0].high
    assert [row[1].value for row in table.rows] == values


def test_columns_of_unlike_rows_come_in_the_order_given(found):
    table = unlike_table(found.unlike_1, "Rows", ["d", "b"])
    assert [c.name for c in table.columns] == ["row", "log ratio (nats)", "d", "b", "a", "c", "e"]
    first = found.unlike_1.cells[0]
    assert [c.text.replace("−", "-") for c in table.rows[0][2:4]] == [first[3], first[1]]


def test_a_text_table_knows_its_numbers():
    table = text_table("t", ("name", "value"), [("a", "1,000 ± 2"), ("b", "−3 %")])
    assert [c.is_number for c in table.columns] == [False, True]
    assert [row[1].value for row in table.rows] == [1000.0, -3.0]


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (number(0.0952), "0.0952"),
        (number(-1234.5), "−1,234"),
        (number(0.0), "0.00"),
        (number(1e-9), "1.00e−09"),
        (number(math.nan), "–"),
        (number(-math.inf), "−∞"),
        (signed(2.0), "+2.00"),
        (with_error(0.51834, 0.0441), "0.518 ± 0.044"),
        (with_error(-0.0001, 0.0441), "0.000 ± 0.044"),
        (with_error(59.3, 20.1), "59 ± 20"),
        (percent(0.0042), "0.42 %"),
        (percent(1e-7), "< 0.01 %"),
        (percent(0.666), "67 %"),
        (p_value(2e-63), "< 0.0001"),
        (subscripts("KL(p_1‖p_0) of x_0, not xp_0"), "KL(p₁‖p₀) of x₀, not xp_0"),
    ],
)
def test_numbers_read_well(shown, text):
    assert shown == text


def test_every_look_has_a_style(found):
    from importlib.resources import files

    css = files("secant.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    charts = [
        histogram_chart(found.log_ratio_0, found.log_ratio_1, ("a", "b")),
        secant_chart(found.path, ("a", "b")),
        calibration_chart(found.calibration),
        training_chart(found.fits),
    ]
    looks = {s.look for c in charts for s in (*c.shapes, *c.keys)}
    assert all(re.search(rf"\.{look}\b", css) for look in looks)
