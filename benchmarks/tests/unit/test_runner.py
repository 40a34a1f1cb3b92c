"""Suites run, resume, and turn failures into rows; the report is derived from rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.tests.unit.plugged import Straight
from benchmarks.tests.unit.sweeping import swept
from tests import tiny

import secant
from secant.datasets import block_gaussians
from secant.integration import SecantSteps
from secant.models import ResidualMLP, SpectralSecant
from secant_bench.catalogue import listed
from secant_bench.information.rows import InformationRow
from secant_bench.report import write_report
from secant_bench.rows import Row, keep_rows, read_rows
from secant_bench.suites import Entry, Suite
from secant_bench.tables import table
from secant_bench.tasks import Task


def _tiny(seed: int) -> secant.SecantRatio:
    return secant.SecantRatio(
        SpectralSecant(4, ResidualMLP(8, 1)),
        anchor=False,
        scaling=secant.Standardise(),
        training=replace(tiny.TRAINING, steps=160),
        random_state=seed,
    )


def _suite(make) -> Suite:
    task = Task(block_gaussians(2), n_rows=500, y_columns=(1,))
    return Suite("tiny", "a test", (Entry(task, "tiny", make, (SecantSteps(1), SecantSteps(2))),))


def test_a_run_writes_a_row_for_every_rule_and_resumes(tmp_path: Path):
    rows = swept(_suite(_tiny), tmp_path, n_seeds=2)
    assert [(r.seed, r.evaluations) for r in rows] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert all(r.status == "finished" and r.truth == pytest.approx(0.5) for r in rows)
    assert swept(_suite(_tiny), tmp_path, n_seeds=2) == []
    assert read_rows(tmp_path / "rows.jsonl") == rows


def test_a_failed_fit_is_a_row_with_its_traceback(tmp_path: Path):
    def broken(seed: int) -> secant.SecantRatio:
        raise RuntimeError(f"no estimator for seed {seed}")

    (row,) = swept(_suite(broken), tmp_path, n_seeds=1)
    assert row.status == "failed"
    assert "no estimator for seed 0" in row.traceback


def test_a_third_partys_class_is_a_method_on_every_task(tmp_path: Path):
    suite = _suite(_tiny).with_method("straight", Straight)
    rows = swept(suite, tmp_path, n_seeds=1, methods=frozenset({"straight"}))
    assert [(r.method, r.status, r.held_out) for r in rows] == [("straight", "finished", None)]
    assert rows[0].rmse_1 == pytest.approx(rows[0].spread_1, rel=0.3)  # it sees no dependence


def test_a_third_partys_class_is_given_rows_where_ours_draw_fresh_ones(tmp_path: Path):
    suite = Suite("tiny", "", (Entry(Task(block_gaussians(2)), "x", Straight),))
    (row,) = swept(suite.with_method("straight", Straight), tmp_path, n_seeds=1, match="straight")
    assert row.status == "finished"


def test_every_benchmark_names_its_entries_once():
    for benchmark in listed():
        assert len(set(benchmark.pairs)) == len(benchmark.pairs) > 0


def test_the_report_shows_what_the_rows_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("<!-- headline:start -->old<!-- headline:end -->")
    for seed, error in enumerate((0.1, 0.3)):
        row = Row("core", "pair", "ours", seed, 1, truth=2.0, error=error, rmse_1=0.5)
        keep_rows(Path("results/core.jsonl"), [row])
        keep_rows(Path("results/shoot-out.jsonl"), [row])
        keep_rows(Path("results/baselines.jsonl"), [replace(row, seconds=3.0 + seed)])
        found = InformationRow("bmi", "pair", "theirs", seed, 500, 1.0, 1.0 + error, seconds=2.0)
        keep_rows(Path("results/bmi.jsonl"), [found, replace(found, method="path entropy")])
        keep_rows(Path("results/bmi.jsonl"), [replace(found, method="secant", estimate=1.05)])
    write_report(Path("results"), Path("page.md"), Path("README.md"))
    mean_square = float(np.mean([0.01, 0.09]))
    assert f"{mean_square:.4f}" in Path("page.md").read_text()
    readme = Path("README.md").read_text()
    assert "mean absolute error | – | – | 0.20 (theirs) | **0.0500** |" in readme
    assert "POWER" not in readme  # it has no rows
    assert "old" not in readme
    methods = Path("_generated/methods.md").read_text()
    assert "| method | pair (2.00) | evaluations per row | seconds per fit |" in methods
    assert "| ours | 0.20 | 1 | 3.00 |" in methods
    assert "| theirs | 0.20 |" in Path("_generated/information.md").read_text()


def test_numbers_stand_to_the_right_and_words_to_the_left():
    text = table(["task", "method", "error", "best"], [["a", "KSG", "–", "**0.10** (b)"]])
    assert text.splitlines()[1] == "| --- | --- | ---: | ---: |"
