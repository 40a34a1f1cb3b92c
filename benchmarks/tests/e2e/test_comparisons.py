"""The scripts of comparisons still measure: one row of the cheapest case each."""

import runpy
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "comparison"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return lambda name: runpy.run_path(str(SCRIPTS / name))


def test_coverage(script):
    names = script("coverage.py")
    exact = dict.fromkeys(names["QUANTITIES"], 0.0)
    row = names["run"]("null", 100, 0, exact)
    assert all(row[quantity][1] <= 0.0 <= row[quantity][2] for quantity in exact)


def test_power(script):
    names = script("power.py")
    assert 0.0 < names["run"](next(iter(names["NULLS"])), 0)["p_value"] <= 1.0


def test_reweighting(script):
    assert script("reweighting.py")["measured"]("secant", "mean shift", 0)["misplaced"] < 0.1


def test_estimated_performance(script):
    names = script("performance.py")
    table, seed = next(iter(names["shifts"](1)))
    low, high = names["measured"](table, seed)["interval"]
    assert low < high
