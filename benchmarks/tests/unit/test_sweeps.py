"""Sweeps: which rows are kept, which runs are repeated, and the cost of a killed process."""

import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from secant_bench import (
    Again,
    DaskCluster,
    InProcess,
    Recipe,
    Row,
    Selection,
    Sweep,
    read_rows,
)
from secant_bench.budgets import Budget
from secant_bench.rows import keep_rows, n_outdated
from secant_bench.schedulers import scheduler_named

ROOT = Path(__file__).parents[3]
HERE = "benchmarks.tests.unit.plugged"


def sweep_of(name, folder, **selection):
    return Sweep(Recipe(f"{HERE}:{name}"), folder, Selection(**selection))


def numbers(rows):
    """All but the time, in the order of the runs."""
    return sorted((row.key, row.rmse_1, row.rmse_0, row.status) for row in rows)


def keep_many(path, method):
    for seed in range(40):
        keep_rows(path, [Row("s", "t", method, seed, 1), Row("s", "t", method, seed, 2)])


@pytest.mark.slow
def test_two_processes_share_a_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    spawn = multiprocessing.get_context("spawn")
    both = [spawn.Process(target=keep_many, args=(path, method)) for method in "ab"]
    for process in both:
        process.start()
    for process in both:
        process.join()
        assert process.exitcode == 0
    assert len(read_rows(path)) == 160


def test_rows_of_the_same_run_give_way(tmp_path):
    path = tmp_path / "rows.jsonl"
    keep_rows(path, [Row("s", "t", "m", 0, 1, error=1.0), Row("s", "t", "m", 0, 2, error=2.0)])
    keep_rows(path, [Row("s", "t", "m", 1, 1)])
    keep_rows(path, [Row("s", "t", "m", 0, 1, error=float("nan"))])
    assert [(r.seed, r.error) for r in read_rows(path)] == [(1, None), (0, None)]


def test_failed_runs_are_made_again_when_asked(tmp_path):
    first = sweep_of("plain", tmp_path, n_seeds=1)
    keep_rows(first.path, [Row("plain", *first.jobs()[0], 0, status="failed", traceback="…")])
    assert len(list(first.run())) == 2
    assert list(first.run()) == []
    failed = Sweep(first.recipe, tmp_path, first.selection, Again.FAILED)
    assert [row.key for row in failed.run()] == [failed.selection.of(first.recipe.build())[0]]
    everything = Sweep(first.recipe, tmp_path, first.selection, Again.ALL)
    assert len(list(everything.run())) == 3
    assert len(read_rows(first.path)) == 3


def test_runs_of_an_older_list_are_made_anew(tmp_path):
    sweep = sweep_of("second_version", tmp_path, n_seeds=1)
    old, kept, new = sweep.jobs()
    keep_rows(sweep.path, [Row("s", *old, 0, status="finished")])
    keep_rows(sweep.path, [Row("s", *kept, 0, status="finished", version=2)])
    assert n_outdated(sweep.path, 2) == 1
    assert [(row.key, row.version) for row in sweep.run()] == [(old, 2), (new, 2)]
    assert n_outdated(sweep.path, 2) == 0


def test_a_third_partys_method_joins_a_suite(tmp_path):
    recipe = Recipe("core", added=(f"{HERE}:Straight",))
    jobs = Sweep(recipe, tmp_path, Selection(methods=frozenset(recipe.added))).jobs()
    assert {job.task for job in jobs} == {task for task, _ in Recipe("core").build().pairs}


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        (Recipe("cores"), "no suite 'cores'"),
        (Recipe("core", Budget.PAPER), "no budget but standard"),
        (Recipe(f"{HERE}:absent"), "has no 'absent'"),
        (Recipe("no.such.module:suite"), "cannot import 'no.such.module'"),
        (Recipe("performance-step", added=(f"{HERE}:Straight",)), "no other methods"),
    ],
)
def test_what_cannot_be_built_is_told(recipe, said):
    with pytest.raises(ValueError, match=said):
        recipe.build()


def test_schedulers_by_name():
    assert scheduler_named(None, alone=False) == DaskCluster()
    assert scheduler_named(None, alone=True) == InProcess()
    assert scheduler_named("local", alone=False) == InProcess()
    assert scheduler_named("tcp://a:8786", alone=False) == DaskCluster("tcp://a:8786")
    with pytest.raises(ValueError, match="must be local, dask or an address"):
        scheduler_named("slurm", alone=False)
    with pytest.raises(ValueError, match="measures time"):
        scheduler_named("dask", alone=True)


def test_a_cluster_finds_what_one_process_finds_though_a_worker_is_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("SECANT_TEST_MARK", str(tmp_path / "mark"))
    on_cluster = sweep_of("deadly", tmp_path / "a", n_seeds=1)
    rows = list(on_cluster.run(DaskCluster(n_workers=2)))
    assert (tmp_path / "mark").exists()  # one worker died on the way
    alone = list(sweep_of("deadly", tmp_path / "b", n_seeds=1).run())
    assert numbers(rows) == numbers(alone)
    assert read_rows(on_cluster.path) == rows


@pytest.mark.slow
def test_a_run_that_kills_its_workers_is_a_failed_row(tmp_path):
    rows = list(sweep_of("doomed", tmp_path).run(DaskCluster(n_workers=1)))
    assert {row.method: row.status for row in rows} == {"Straight": "finished", "Doomed": "failed"}
    assert any("KilledWorker" in row.traceback for row in rows)


def killed_sweep(folder, seconds):
    """A sweep in a process of its own, killed after some seconds; whether it had ended."""
    command = [sys.executable, "-c", "from secant.cli import main; main()", "bench", "run"]
    command += [f"{HERE}:slow", "--seeds", "10", "--scheduler", "local", "--results", str(folder)]
    with subprocess.Popen(
        [*command, "--quiet"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first row: what follows is the sweep, not its start
        time.sleep(seconds)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
    return process.returncode == 0


def check_killed(folder, rng, kills):
    """Kill at random moments, look at the file, then finish; the rows as of one go."""
    for _ in range(kills):
        ended = killed_sweep(folder, rng.uniform(0.0, 1.0))
        rows = read_rows(folder / "slow.jsonl")  # whole lines, whole runs
        assert len({row.key for row in rows}) == len(rows)
        if ended:
            break
    sweep = sweep_of("slow", folder, n_seeds=10)
    list(sweep.run())
    rows = read_rows(sweep.path)
    assert len(rows) == len({row.key for row in rows}) == 60
    assert all(row.status == "finished" for row in rows)
    assert not [path for path in folder.iterdir() if path.suffix == ".part"]
    return numbers(rows)


def test_a_killed_sweep_loses_nothing(tmp_path):
    whole = list(sweep_of("slow", tmp_path / "whole", n_seeds=10).run())
    assert check_killed(tmp_path / "killed", np.random.default_rng(0), 1) == numbers(whole)


@pytest.mark.slow
def test_fifty_killed_sweeps_lose_nothing(tmp_path, capsys):
    whole = list(sweep_of("slow", tmp_path / "whole", n_seeds=10).run())
    rng = np.random.default_rng(1)
    trials = [check_killed(tmp_path / str(i), rng, 2) == numbers(whole) for i in range(25)]
    with capsys.disabled():
        print(f"\nsweeps killed −9 at 50 random moments: {2 * sum(trials)} of 50 complete")
    assert all(trials)
