"""Charts: positions of values, and texts."""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from secant.diagnostics import calibration_curve
from secant.report.blocks import Axis, axis, round_ticks
from secant.report.drawing import histogram_edges, row_shares
from secant.report.numbers import number, p_value, percent, signed, subscripts, with_error
from secant.report.svg import (
    calibration_chart,
    distribution_chart,
    histogram_chart,
    secant_chart,
    training_chart,
)
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


def drawn(chart):
    """The axes that a chart draws on."""
    axes = Figure().subplots()
    chart.draw(axes)
    return axes


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_histograms_hold_every_row_and_outliers_do_not_spoil_them():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=1000), [1e6, -1e6]])
    edges = histogram_edges(values)
    assert edges[0] > -10.0
    assert edges[-1] < 10.0
    assert row_shares(values, edges).sum() == pytest.approx(1.0)
    axes = drawn(distribution_chart(values, title="t", quantity="v", caption="c."))
    assert axes.get_ylim()[0] == 0.0
    assert axes.patches[0].get_data().values.sum() == pytest.approx(100.0)
    assert axes.get_legend() is None
    assert np.diff(histogram_edges(np.zeros(5))).min() > 0.0


def test_a_histogram_tells_both_medians():
    chart = histogram_chart(np.full(9, -1.0), np.full(9, 2.0), ("old", "new"))
    assert "old have a median log ratio of −1.00" in chart.description
    assert legend(drawn(chart)) == ["old", "new"]


def test_secants_join_the_ends_of_their_curves(found):
    lines = drawn(secant_chart(found.path, ("old", "new"))).lines[1:]  # the first is the zero line
    assert len(lines) == 3 * len(found.path.lines)
    for k, line in enumerate(found.path.lines):
        chord, curve, dot = (each.get_xydata() for each in lines[3 * k : 3 * k + 3])
        np.testing.assert_array_equal(chord, [[0.0, 0.0], [1.0, line.log_ratio]])
        np.testing.assert_array_equal(curve, np.column_stack([found.path.times, line.rise]))
        np.testing.assert_array_equal(dot, [[1.0, line.log_ratio]])


def test_a_calibrated_ratio_lies_on_the_diagonal():
    rng = np.random.default_rng(0)
    zero, one = rng.normal(-0.5, 1.0, 20_000), rng.normal(0.5, 1.0, 20_000)
    curve = calibration_curve(zero, one)  # of unit normals one apart the log ratio is x itself
    axes = drawn(calibration_chart(curve))
    x, y = axes.containers[0].lines[0].get_xydata().T
    assert x.size == curve.n_bins
    assert np.all(np.abs(y - x) <= 4.5 * curve.standard_error)
    assert curve.recalibration.slope == pytest.approx(1.0, abs=0.06)
    assert f"recalibration, slope {curve.recalibration.slope:.2f} ± 0.01" in legend(axes)


def test_a_calibration_of_samples_apart_has_bounds_and_no_line():
    curve = calibration_curve(np.linspace(-9, -8, 50), np.linspace(8, 9, 50))
    axes = drawn(calibration_chart(curve))
    bounds = ["calibrated", "rows of x_1 only: at least", "rows of x_0 only: at most"]
    assert legend(axes) == bounds
    assert sum(len(dots.get_offsets()) for dots in axes.collections) == curve.n_bins


def test_training_marks_the_state_that_was_kept(found):
    lines = drawn(training_chart(found.fits)).lines
    dots = [line.get_xydata()[0] for line in lines if line.get_xdata().size == 1]
    np.testing.assert_allclose(dots, [[40.0, 1.0]] * len(found.fits))
    assert training_chart([replace(fit, history=()) for fit in found.fits]) is None


@pytest.mark.filterwarnings("error")
def test_drawings_are_clean_svg_in_the_colours_of_the_page(found):
    names = ("<b>old</b>", "cost in $ \n and 😀")
    svg = histogram_chart(found.log_ratio_0, found.log_ratio_1, names).svg("1-1")
    assert "var(--zero)" in svg
    assert "var(--one)" in svg
    assert not re.search(r"#[0-9a-f]{6}\b|<b>|url\(|https?:|font:", svg)
    assert "&lt;b&gt;old" in svg
    assert "cost in $" in svg
    assert all(name.startswith("1-1-") for name in re.findall(r'id="([^"]*)"', svg))
    ElementTree.fromstring(f'<svg xmlns:xlink="x">{svg}</svg>')


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
