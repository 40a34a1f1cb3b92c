"""Figures of error against evaluations and seconds."""

from pathlib import Path

from matplotlib.figure import Figure

from secant_bench.panels import Point, _line, few_marks, panels


def points(methods, tasks=("a",), evaluations=(1, 2)):
    return [
        Point(task, method, count, 1.0 + seed, 0.1 * (seed + 1) / count)
        for task in tasks
        for method in methods
        for count in evaluations
        for seed in range(3)
    ]


def test_a_suite_has_its_figure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = [f"task {n}" for n in range(7)]
    many = points([f"method {n}" for n in range(9)], tasks)
    none = [Point("a", "failed", 1, None, None), Point("task 0", "no network", None, 2.0, 0.3)]
    line = panels([*many, *none], "suite", "error")
    assert line == "![suite: error, against evaluations and seconds](figures/suite.png)"
    assert Path("docs/figures/suite.png").stat().st_size > 20_000


def test_what_is_doubted_is_crossed_out():
    own = [Point("a", "m", count, 1.0, 0.5 * count, doubted=count == 2) for count in (1, 2)]
    axes = Figure().subplots()
    _line(axes, own, lambda p: p.evaluations, 0)
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert [line.get_xydata().tolist() for line in crosses] == [[[2.0, 1.0]]]


def test_there_is_none_where_nothing_is_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert panels(points(["alone"]), "suite", "error") == ""
    assert panels([Point("a", "failed", 1, 1.0, None)], "suite", "error") == ""
    assert not Path("docs").exists()


def test_marks_between_powers_of_ten_are_few():
    shown = [few_marks(x) for x in (1.0, 2.0, 3.0, 5.0, 9.0, 20.0)]
    assert shown == ["", "2", "", "5", "", "20"]
