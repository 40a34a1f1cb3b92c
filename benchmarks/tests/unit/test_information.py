"""The suites of mutual information: rows, resumption, failures and tables."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.tests.unit.sweeping import swept

from secant.datasets import bmi_tasks
from secant.training.settings import Training
from secant_bench.information import INFORMATION_SUITES, InformationSuite
from secant_bench.information import methods as methods_of
from secant_bench.information.information_report import information_sections
from secant_bench.information.methods import METHODS, Answer
from secant_bench.information.rows import InformationRow
from secant_bench.information.runner import drawn
from secant_bench.information.suites import gaussian_blocks
from secant_bench.rows import keep_rows, read_rows

KSG = {"KSG": METHODS["KSG"]}


def suite(**settings):
    base = InformationSuite("bmi", "…", bmi_tasks()[:2], KSG, n_rows=200, n_seeds=2)
    return replace(base, **settings)


def test_a_run_writes_one_row_a_job_and_resumes(tmp_path):
    first = swept(suite(), tmp_path, n_seeds=1)
    assert [row.key for row in first] == [(t.name, "KSG", 0) for t in bmi_tasks()[:2]]
    assert all(row.status == "finished" and row.seconds > 0.0 for row in first)
    rest = swept(suite(), tmp_path)
    assert {row.seed for row in rest} == {1}
    assert read_rows(tmp_path / "rows.jsonl", InformationRow) == first + rest


def test_a_failure_is_a_row_with_its_traceback(tmp_path):
    broken = suite(tasks=bmi_tasks()[:1], methods={"KSG": lambda x, y, seed: 1 / 0})
    (row,) = swept(broken, tmp_path, n_seeds=1)
    assert row.status == "failed"
    assert "ZeroDivisionError" in row.traceback
    assert row.estimate is None
    assert row.truth == bmi_tasks()[0].mutual_information


def test_a_match_chooses_among_the_jobs(tmp_path):
    named = swept(suite(), tmp_path, match="normal_cdf", n_seeds=1)
    assert [row.task for row in named] == ["normal_cdf-1v1-normal-0.75"]


class Constant:
    """A third party's estimator, with the interface of the `bmi` package."""

    def estimate(self, x, y):
        return float(x.shape[0] == y.shape[0])


def test_a_third_partys_class_is_a_method(tmp_path):
    rows = swept(suite().with_method("constant", Constant), tmp_path, n_seeds=1)
    assert [(r.method, r.estimate) for r in rows if r.method != "KSG"] == [("constant", 1.0)] * 2


def test_every_suite_names_known_methods_and_has_rows_to_draw():
    for make in INFORMATION_SUITES.values():
        found = make()
        assert set(found.methods) <= set(METHODS)
        assert len({task.name for task in found.tasks}) == len(found.tasks)
        x, y = drawn(found.tasks[0], 10, 0)
        assert x.shape == (10, found.tasks[0].dim_x)
        assert y.shape == (10, found.tasks[0].dim_y)


def test_blocks_pair_the_first_coordinates_with_the_second():
    task = gaussian_blocks(4)
    x, y = drawn(task, 20_000, 0)
    assert task.mutual_information == pytest.approx(1.0)
    correlation = np.corrcoef(x.T, y.T)[:2, 2:]
    expected = math.sqrt(1 - math.exp(-1)) * np.eye(2)
    np.testing.assert_allclose(correlation, expected, atol=4 / math.sqrt(20_000))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["MINE", "InfoNCE"])
def test_variational_bounds_are_near_the_truth(method, monkeypatch):
    quick = Training(steps=200, batch_size=256, evaluate_every=100)
    monkeypatch.setattr(methods_of, "training_for", lambda n: quick)
    x, y = drawn(bmi_tasks()[0], 4000, 0)  # 0.413 nats
    assert METHODS[method](x, y, 0).estimate == pytest.approx(0.413, abs=0.08)


@pytest.mark.slow
def test_a_bound_does_not_learn_which_pairs_were_left_out():
    """With each row re-paired once, MINE says −0.4 nats here."""
    task = next(t for t in bmi_tasks() if t.name == "half_cube-1v1-normal-0.75")
    estimate = METHODS["MINE"](*drawn(task, 10_000, 0), 0).estimate
    assert estimate == pytest.approx(task.mutual_information, abs=0.15)


def test_tables_come_from_rows(tmp_path):
    row = InformationRow("mi-coverage", "a", "secant", 0, 2000, 0.5)
    for seed, estimate in enumerate([0.5, 0.6, 0.9]):
        known = Answer(estimate, 0.1, estimate - 0.2, estimate + 0.2, 0.04 * seed, 0.01)
        filled = replace(row, seed=seed, seconds=1.0, **known.__dict__)
        for name in ("mi-coverage", "mi-null", "bmi", "paper-geometric-mi"):
            keep_rows(tmp_path / f"{name}.jsonl", [filled])
    page = "\n".join(information_sections(tmp_path))
    assert "| a | 0.50 | 67% | 0% / 33% | 0.17 | 0.17 | 0.10 | 0.0100 | 3 |" in page
    assert "| a | secant | 33.3% | 66.7% | 100.0% | 100.0% | 3 |" in page
    assert "| **mean of 1** |  | 0.17 |" in page
    assert "| a | secant | 0.50 | 0.67 | 0.0567 | 33.3% | 1 | 3 |" in page
