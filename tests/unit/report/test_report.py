"""Pages escape their input and are self-contained; figures are written."""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from secant import SklearnRatio, compare
from secant.diagnostics import RatioDiagnostics, feature_drift
from secant.report.figures import (
    Panel,
    histogram_figure,
    plot_calibration,
    plot_drift,
    scatter_figure,
)


def test_figures_are_written(tmp_path: Path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=100)
    scatter_figure([Panel("a", values, values), Panel("b", values, -values)], tmp_path / "s.png")
    histogram_figure(values, values + 1, tmp_path / "h.png", title="t", labels=("a", "b"))
    for name in ("s.png", "h.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def diagnosed(shift=0.8, n=400, columns=3):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(n, columns)), shift + rng.normal(size=(n, columns))
    scores = [shift * x[:, 0] - 0.5 * shift**2 for x in (x_0, x_1)]
    return RatioDiagnostics.from_scores(*scores, loss=(0.0, 0.0), drift=feature_drift(x_0, x_1))


def test_calibration_is_drawn_from_the_curve(tmp_path: Path):
    found = diagnosed()
    axes = plot_calibration(found, tmp_path / "c.png").axes[0]
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    diagonal, line = axes.lines[:2]
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    x, y = line.get_xdata(), line.get_ydata()
    assert np.isclose((y[1] - y[0]) / (x[1] - x[0]), found.calibration.recalibration.slope)
    np.testing.assert_array_equal(
        axes.containers[0].lines[0].get_ydata(),
        found.calibration.observed[~found.calibration.is_bound],
    )
    assert plot_calibration(diagnosed(shift=40.0, n=30)) is not None  # apart: bounds only


def assert_all_in_the_picture(figure):
    """No label is cut at an edge."""
    drawn, width, height = figure.get_tightbbox(), *figure.get_size_inches()
    assert drawn.x0 >= 0.0
    assert drawn.y0 >= 0.0
    assert drawn.x1 <= width
    assert drawn.y1 <= height


def test_drift_is_drawn_with_the_largest_first(tmp_path: Path):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(size=(200, 3)), rng.normal(size=(200, 3)) + np.array([0.0, 1.0, 0.2])
    names = ["a", "b $", "a name that is much longer than a figure has room for"]
    ratio = SklearnRatio(LogisticRegression(), folds=None)
    found = compare(
        x_0, x_1, estimator=ratio, n_folds=2, n_permutations=9, random_state=0, feature_names=names
    )
    figure = plot_drift(found, tmp_path / "d.png")
    assert_all_in_the_picture(figure)
    axes = figure.axes[0]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [c.contribution for c in found.features]
    assert axes.get_yticklabels()[0].get_text() == r"b \$"
    assert "±" in figure.get_supxlabel()
    few = plot_drift(diagnosed(columns=20), n_features=4)
    assert_all_in_the_picture(few)
    assert len(few.axes[0].patches) == 4
    assert "(16 smaller not shown)" in few.get_suptitle()
