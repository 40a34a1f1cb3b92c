"""The paper's figures: drawn where rows exist, left out where they do not, and of those numbers."""

import numpy as np
import pytest
from matplotlib import axes as axes_module
from matplotlib.axes import Axes

from secant.targets import ConditionalSecantAlignment
from secant_bench import Budget
from secant_bench.paper_figures import draw_ablation, draw_estimates, draw_training
from secant_bench.rows import Row
from secant_bench.suites.ablation import SUPERVISION
from secant_bench.training_curves import CurveRow, training_curves


@pytest.fixture
def bars(monkeypatch):
    """Heights of all bars, by label or colour, as they are drawn."""
    drawn = []
    plain = Axes.bar

    def bar(self, x, height, *args, **settings):
        drawn.extend(np.atleast_1d(height).tolist())
        return plain(self, x, height, *args, **settings)

    monkeypatch.setattr(axes_module.Axes, "bar", bar)
    return drawn


def estimates(method, d, evaluations, errors):
    task = f"block-gaussians-{d}d"
    return [
        Row("s", task, method, seed, evaluations, truth=d / 4, error=error)
        for seed, error in enumerate(errors)
    ]


def test_estimates_are_those_at_two_evaluations_or_at_the_methods_only_one(tmp_path, bars):
    rows = [
        *estimates("ours", 40, 1, [9.0]),
        *estimates("ours", 40, 2, [0.5, -0.1]),
        *estimates("one pass", 40, 1, [0.25]),
        *estimates("ours", 80, 5, [9.0]),  # not at two
        *estimates("one pass", 80, 1, [-1.0]),
        Row("s", "another task", "ours", 0, 2, truth=1.0, error=0.0),
    ]
    assert draw_estimates(rows, tmp_path / "figure.png")
    assert bars == pytest.approx([10.2, 10.25, 19.0])
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_one_method_alone_and_no_rows_draw_nothing(tmp_path):
    path = tmp_path / "figure.png"
    assert not draw_estimates(estimates("ours", 40, 2, [0.1]), path)
    assert not draw_estimates([], path)
    assert not draw_training([], path)
    assert not draw_ablation([], {}, path, evaluations=2)
    assert not path.exists()


def test_training_has_a_line_for_each_curriculum(tmp_path, monkeypatch):
    lines = {}
    plain = Axes.plot
    monkeypatch.setattr(
        axes_module.Axes,
        "plot",
        lambda self, *args, label=None, **s: (
            lines.update({label: args}),
            plain(self, *args, label=label, **s),
        )[1],
    )
    rows = [
        CurveRow("s", "t", method, seed, step=step, estimate=value, truth=1.7)
        for method, values in {"CIA": (1.0, 2.0, 9.0), "0 % STS": (0.0, 0.5, 1.0)}.items()
        for seed, value in enumerate(values)
        for step in (100, 200)
    ]
    assert draw_training(rows, tmp_path / "figure.png")
    assert lines["CIA"] == ([100, 200], [2.0, 2.0])  # medians
    assert lines["0 % STS"] == ([100, 200], [0.5, 0.5])


def test_ablation_has_a_bar_for_each_pair_and_each_baseline(tmp_path, bars):
    rows = [
        Row("s", "t", f"{sampler}, {way}", seed, 2, truth=1.0, error=0.1 * (number + 1))
        for number, (sampler, way) in enumerate((a, b) for a in ("VI", "LN") for b in SUPERVISION)
        for seed in range(2)
    ]
    others = {"t": [Row("s", "t", "DREInfinity", 0, 2, truth=1.0, error=3.0)]}
    assert draw_ablation(rows, others, tmp_path / "figure.png", evaluations=2)
    assert sorted(bars) == pytest.approx([*(0.01 * n**2 for n in range(1, 9)), 9.0])
    assert not draw_ablation(rows, others, tmp_path / "other.png", evaluations=50)


def test_what_is_looked_at_during_training_is_the_estimate():
    suite = training_curves(Budget.SMALL)
    assert {method for _, method in suite.pairs} == set(SUPERVISION)
    target = suite.methods["CIA"](0).target
    assert isinstance(target, ConditionalSecantAlignment)  # trained by the paper's loss

    class Constant:
        secant_evaluations = 1

        def secant(self, x, l, t):
            return np.full(x.shape[0], 0.7)

    rows = type("Rows", (), {"x_1": np.zeros((5, 2))})
    np.testing.assert_allclose(target.held_out.losses(Constant(), None, rows), -0.7, rtol=1e-6)
