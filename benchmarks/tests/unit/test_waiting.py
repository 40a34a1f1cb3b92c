"""Scoring and starting: what is timed against what, and what goes into a row."""

from importlib import import_module

import pytest
from benchmarks.tests.unit.sweeping import swept

from secant_bench.performance.fresh_process import called_alone
from secant_bench.products import Product

scoring = import_module("secant_bench.performance.scoring")
startup = import_module("secant_bench.performance.startup")


@pytest.mark.usefixtures("unoptimised")
def test_scoring_is_timed_in_turn_with_its_products(tmp_path, monkeypatch):
    sides, seconds = [], iter([3.0, 1.0, 2.0, 0.5] * 5)
    monkeypatch.setattr(scoring, "called_alone", lambda run, model, n: n)

    def taken(run, n):
        assert n == 1
        sides.append(run())
        return next(seconds)

    monkeypatch.setattr(scoring, "seconds_each", taken)
    shape = scoring._ScoringShape(4, 300, 3)
    suite = scoring.ScoringSuite("performance-scoring", "", (shape,), {"anchored": True}, 1)
    (row,) = swept(suite, tmp_path)
    assert (row.status, row.traceback) == ("finished", "")
    assert (row.rows_per_second, row.bare_over_scoring) == (150.0, 0.25)
    assert (row.memory_growth, row.n_rows) == (300, 300)
    scores, products, *_ = sides
    assert scores.shape == (300,)
    assert [p.shape[1] for p in products] == [4, 4, 4, 12, 3]
    plain = scoring._bare_products(row, has_anchor=False)()
    assert [p.shape[1] for p in plain] == [4, 4, 4, 12]


def test_the_suite_has_two_widths_and_two_sizes():
    suite = scoring.scoring()
    assert suite.alone
    assert {(t.width, t.n_rows) for t in suite.tasks} == {
        (width, n) for width in (256, 512) for n in (100_000, 1_000_000)
    }


@pytest.mark.slow
def test_memory_grows_less_than_the_rows_take():
    model = scoring._fitted(16, 32, has_anchor=True)
    growth = called_alone(scoring._memory_growth, model, 1_000_000)
    assert 0 < growth < 0.5 * 1_000_000 * 32 * 4


def test_a_start_is_timed_in_turn_with_jax(tmp_path, monkeypatch):
    asked = []
    taken = {"import jax": iter([2.0, 1.0] * 9), "import jax, secant": iter([1.5, 1.25] * 9)}
    monkeypatch.setattr(
        startup, "_seconds", lambda code: (asked.append(code), next(taken[code]))[1]
    )
    (row,) = swept(startup.startup(), tmp_path, match="jax, secant")
    assert (row.seconds, row.yardstick, row.share) == (1.25, 1.0, 1.25)
    assert asked[:4] == ["import jax, secant", "import jax"] * 2
    assert isinstance(startup.startup(), Product)
