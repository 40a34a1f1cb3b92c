"""The page of a watch: the verdict first, then what, since when, which rows and what to do."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.unit.report.shown import HOSTILE, watched

import secant
from secant.report import markdown, monitoring_page, rendered, write_monitoring
from secant.report.drawing import BLUE, ORANGE
from secant.report.svg import column_course_chart, evidence_chart, overlap_chart


@pytest.fixture(scope="module")
def changed():
    return watched(last_is_complete=True)


@pytest.fixture(scope="module")
def quiet():
    return watched(shift=0.0)


def test_the_order_of_the_page(changed):
    page = monitoring_page(changed, command="secant monitor a.csv b.csv")
    assert page.headline == "stream has changed since 2024-03-04."
    assert page.tone in ("strong", "apart")
    assert "“age”" in page.lead
    assert [s.title for s in page.sections] == [
        "What changed",
        "Since when",
        "Which rows",
        "What to do",
        "All windows",
        "Settings and how to reproduce",
    ]
    html = rendered(page)
    assert html.index("has changed since") < html.index("Evidence of a change")
    assert "secant monitor a.csv b.csv" in html


def test_a_quiet_stream_has_nothing_to_do(quiet):
    page = monitoring_page(quiet)
    assert page.tone == "good"
    assert [s.title for s in page.sections][:2] == ["Over time", "What to do"]
    html = rendered(page)
    assert "Nothing: no change was found" in html
    assert "still open" in html


def test_nothing_compared_yet():
    page = monitoring_page(_few())
    assert "No window could be compared yet" in page.lead
    assert page.sections[0].title == "What to do"
    rendered(page)


def _few():
    rng = np.random.default_rng(0)
    return secant.monitor(rng.normal(size=(50, 2)), rng.normal(size=(30, 2)), every=10)


def test_hostile_names_are_escaped(tmp_path):
    found = watched(names=HOSTILE[:2], sample_names=(HOSTILE[2], HOSTILE[0]), last_is_complete=True)
    windows = tuple(replace(w, label=HOSTILE[i % 5]) for i, w in enumerate(found.windows))
    found = replace(found, windows=windows, zone=HOSTILE[0], notes=HOSTILE)
    write_monitoring(tmp_path / "page.html", found, command=HOSTILE[1])
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count("<script") == 1
    assert "<img" not in html
    assert "<script" not in markdown(found)


def _axes(drawing):
    axes = Figure().subplots()
    drawing.draw(axes)
    return axes


def test_the_charts_hold_what_was_found(changed):
    evidence, overlap = _axes(evidence_chart(changed)), _axes(overlap_chart(changed))
    course, alarm, proof = evidence.lines
    expected = [w.log_evidence / np.log(10.0) for w in changed.windows]
    np.testing.assert_allclose(course.get_ydata(), expected)
    np.testing.assert_allclose(alarm.get_ydata(), np.log10(20.0))  # at 1/level
    assert proof.get_xdata() == [changed.proof]
    shares = [float(line.get_ydata()[0]) for line in overlap.lines]
    np.testing.assert_allclose(shares, [100.0 * w.overlap for _, w in changed.compared])
    assert [line.get_color() for line in overlap.lines] == [BLUE] * 3 + [ORANGE] * 2


def test_the_shades_of_a_column(changed):
    axes = _axes(column_course_chart(changed, ["age", "income"]))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["age", "income"]
    dark = [bar for bar in axes.patches if bar.get_alpha() > 0.6]
    assert len(dark) >= 1
    for bar in dark:  # in the row of the first column, from the fourth window on
        assert bar.get_y() + 0.5 * bar.get_height() == pytest.approx(0.0)
        assert bar.get_x() > 2.5


def test_markdown_has_a_row_a_window(changed):
    text = markdown(changed)
    assert "has changed since 2024" in text
    assert text.count("| 2024") == len(changed.windows)
