import importlib
import json
import subprocess
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from secant import SecantRatio, Training
from secant.datasets import bmi_tasks
from secant.models import ResidualMLP, SpectralSecant
from secant.paths import DiffusionInterpolant
from secant.targets import TangentVelocity
from secant.targets.batch import Batch
from secant_bench.benchmark import Skipped, attempted
from secant_bench.catalogue import Recipe, family
from secant_bench.performance import by_hand, engine_fits
from secant_bench.performance.engine import (
    BY_HAND,
    OLDER,
    PRESENT,
    SECOND_PROCESS,
    EngineRow,
    EngineSuite,
    engine,
)
from secant_bench.performance.performance_report import performance_sections
from secant_bench.performance.source_trees import older_source, present_source, printed_by
from secant_bench.rows import Job, keep_rows

# The package has a function of that name.
engine_module = importlib.import_module("secant_bench.performance.engine")


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path):
    """Two commits of one file; the path and the first commit."""
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    git(folder, "init")
    for text in ("older", "present"):
        (folder / "src" / "file.txt").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-m", text)
    return folder, git(folder, "rev-parse", "HEAD~1")


def test_older_sources_are_those_of_the_commit(repository):
    folder, commit = repository
    with older_source(commit, folder / "src") as source:
        assert (source / "file.txt").read_text() == "older"
    assert not source.exists()
    assert (folder / "src" / "file.txt").read_text() == "present"


def test_without_the_commit_a_run_is_skipped(repository):
    folder, _ = repository
    with pytest.raises(Skipped, match="commit 0123456 is not in the repository"):
        older_source("0123456" + 33 * "0", folder).__enter__()


def test_without_a_repository_a_run_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Skipped, match="no repository"):
        older_source("c98fcfe", tmp_path).__enter__()


def test_without_git_a_run_is_skipped(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Skipped, match="git, which is not installed"):
        older_source(repository[1], repository[0]).__enter__()


def test_a_skipped_side_is_a_row_with_the_reason(monkeypatch):
    monkeypatch.setenv("PATH", "")
    suite = engine()
    (row,) = attempted(suite, Job(engine_fits.COLD, OLDER, 0)).rows
    assert row.status.startswith("skipped: older sources are read by git")


def script(folder, text):
    path = folder / "script.py"
    path.write_text("import json, os, sys\n" + text)
    return path


def test_a_script_has_the_sources_and_no_programs_on_disk(tmp_path):
    told = (
        "names = ('PYTHONPATH', 'JAX_ENABLE_COMPILATION_CACHE')\n"
        "print('a line before')\n"
        "print(json.dumps({'args': sys.argv[1:], 'env': [os.environ[n] for n in names]}))"
    )
    found = printed_by(script(tmp_path, told), tmp_path, "task", "--seed", "1")
    assert found == {"args": ["task", "--seed", "1"], "env": [str(tmp_path), "false"]}


def test_a_script_keeps_programs_in_the_folder_it_is_given(tmp_path):
    told = (
        "names = ('XDG_CACHE_HOME', 'JAX_COMPILATION_CACHE_DIR')\n"
        "print(json.dumps({'env': [os.environ.get(n) for n in names]}))"
    )
    found = printed_by(script(tmp_path, told), tmp_path, programs=tmp_path / "kept")
    assert found == {"env": [str(tmp_path / "kept"), None]}


def test_a_script_that_fails_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="the reason"):
        printed_by(script(tmp_path, "raise ValueError('the reason')"), tmp_path)


def test_a_script_must_use_the_sources_it_was_given(tmp_path):
    told = "print(json.dumps({'source': '/elsewhere/secant/__init__.py'}))"
    with pytest.raises(RuntimeError, match="it used /elsewhere"):
        printed_by(script(tmp_path, told), tmp_path)


@pytest.mark.slow
def test_both_scripts_run_by_their_path():
    with present_source() as source:
        for file in ("engine_fits.py", "by_hand.py"):
            place = Path(engine_fits.__file__).with_name(file)
            with pytest.raises(RuntimeError, match=r"unrecognized arguments: .*--nonsense"):
                printed_by(place, source, engine_fits.COLD, "--nonsense")


def test_the_suite_has_all_parts_and_a_script_by_hand_for_the_cold_start():
    suite = engine()
    assert "performance-engine" in family("performance")
    assert isinstance(Recipe("performance-engine").build(), EngineSuite)
    parts = {suite.blank(Job(*pair, 0)).part for pair in suite.pairs}
    assert parts == {"cold", "warm", "grid", "defaults"}
    assert [pair for pair in suite.pairs if pair[1] == BY_HAND] == [(engine_fits.COLD, BY_HAND)]
    sides = (PRESENT, SECOND_PROCESS, OLDER, BY_HAND)
    assert suite.pairs[:4] == [(engine_fits.COLD, side) for side in sides]


def test_a_second_process_finds_the_programs_of_the_first(monkeypatch):
    calls = []

    def printed(script, source, *arguments, programs):
        calls.append(programs)
        return {"programs": len(calls)}

    monkeypatch.setattr(engine_module, "printed_by", printed)
    found = engine().methods[SECOND_PROCESS](engine_fits.COLD, 0)
    assert found == {"programs": 2}
    assert calls[0] == calls[1] is not None
    assert not calls[0].exists()


def test_tasks_of_information_are_among_the_forty():
    assert set(engine_fits.INFORMATION) <= {task.name for task in bmi_tasks()}


def test_a_side_is_a_row(monkeypatch):
    asked = []

    def printed(file, source, *arguments):
        asked.append((file.name, *arguments))
        return {"seconds": 2.0, "steps": 9, "batch_size": 8, "width": 7, "depth": 6}

    monkeypatch.setattr(engine_module, "printed_by", printed)
    (row,) = engine().run(Job(engine_fits.COLD, BY_HAND, 3)).rows
    fit = ("engine_fits.py", engine_fits.COLD, "--seed", "3")
    shape = ("--steps=9", "--batch-size=8", "--width=7", "--depth=6")
    assert asked == [fit, ("by_hand.py", "--seed", "3", *shape)]
    assert (row.part, row.seconds, row.steps, row.status) == ("cold", 2.0, 9, "finished")


def test_programs_are_counted_by_name():
    def run_steps(x):
        return 3.0 * x - 1.7

    loop, other = jax.jit(run_steps), jax.jit(lambda x: x**3 - 0.31)
    x = np.ones(37, np.float32)
    found, first = engine_fits.cost_of(lambda: (loop(x), other(x)))
    assert float(found[0][0]) == pytest.approx(1.3)
    _, second = engine_fits.cost_of(lambda: (loop(x), other(x)))
    assert (first["programs"], first["loop_programs"]) == (2, 1)
    assert (second["programs"], second["loop_programs"]) == (0, 0)
    assert first["seconds"] > 0.0


class Exact:
    """A ratio that knows the truth up to a constant."""

    def __init__(self, problem, miss):
        self.problem, self.miss = problem, miss

    def fit_samples(self, x_0, x_1):
        self.diagnostics_ = self
        self.steps = 10 * len(x_0)
        return self

    def log_ratio(self, x):
        return np.asarray(self.problem.log_ratio(x)) + self.miss


def test_errors_are_over_both_fits_of_a_process():
    problem = engine_fits.correlated(50, 3)
    seeds = []
    make = lambda seed: seeds.append(seed) or Exact(problem, 3.0 if seed == 4 else 4.0)  # noqa: E731
    found = engine_fits.of_ratio(problem, make, 2)
    assert seeds == [4, 5]
    assert found["rmse_0"] == pytest.approx(np.sqrt(12.5), rel=1e-5)
    assert found["rmse_1"] == pytest.approx(np.sqrt(12.5), rel=1e-5)
    assert found["warm_steps"] == found["steps"] == 500
    assert set(found) <= set(EngineRow.__dataclass_fields__)


def test_rows_whose_log_ratio_is_infinite_do_not_count():
    problem = engine_fits.correlated(50, 3)
    cut = lambda x: jnp.where(x[:, 0] > 0.0, problem.log_ratio(x), -jnp.inf)  # noqa: E731
    misses = engine_fits.FitProblem(50, problem.draw, cut).squared_misses(Exact(problem, 2.0), 0)
    assert misses == pytest.approx((4.0, 4.0), rel=1e-4)


def test_every_second_column_is_shuffled_where_it_is_asked_for():
    plain = engine_fits.of_pair(engine_fits.block_gaussians(4))
    broken = engine_fits.of_pair(engine_fits.block_gaussians(4), (1, 3))
    (_, x_1), (x_0, same) = plain.rows(0), broken.rows(0)
    np.testing.assert_array_equal(x_1, same)
    np.testing.assert_array_equal(x_0[:, ::2], x_1[:, ::2])
    np.testing.assert_array_equal(np.sort(x_0[:, 1]), np.sort(x_1[:, 1]))
    # Standard error of a correlation of 20,000 rows: 0.007.
    assert abs(np.corrcoef(x_0[:, 0], x_0[:, 1])[0, 1]) < 0.035


@pytest.mark.slow
def test_a_fit_says_its_network_and_batch():
    training = Training(steps=2, batch_size=16, evaluate_every=1)
    builder = SpectralSecant(trunk=ResidualMLP(9, depth=3))
    make = partial(_small, builder, training)
    found = engine_fits.of_ratio(engine_fits.correlated(60, 5), make, 0)
    assert (found["batch_size"], found["width"], found["depth"]) == (16, 9, 3)
    assert (found["steps"], found["loop_programs"]) == (2, 1)
    assert found["warm_programs"] < found["programs"]


def _small(builder, training, seed):
    return SecantRatio(builder, training=training, random_state=seed)


def test_both_scripts_draw_the_same_rows_with_the_same_truth():
    problem = engine_fits.correlated(by_hand.N_ROWS, by_hand.N_COLUMNS)
    for ours, theirs in zip(problem.rows(3), by_hand.rows(3), strict=True):
        np.testing.assert_allclose(ours, theirs)
        # float32 on one side
        exact = by_hand.true_log_ratio(theirs)
        np.testing.assert_allclose(problem.log_ratio(ours), exact, rtol=1e-4, atol=1e-4)


def test_the_script_by_hand_has_the_library_s_loss():
    rng = np.random.default_rng(0)
    settings = by_hand.Settings(width=6, depth=2)
    weights = by_hand.fresh_weights(5, settings, 0)
    head = rng.normal(size=(6, by_hand.ORDER)).astype(np.float32)
    weights[-1] = (head, rng.normal(size=by_hand.ORDER).astype(np.float32))
    model = SpectralSecant(by_hand.ORDER, ResidualMLP(6)).build(5, key=jax.random.key(0))
    model = _with(model, weights)
    x_0, x_1 = (x[:40].astype(np.float32) for x in by_hand.rows(0))
    t = np.linspace(0.0, 1.0, 40, dtype=np.float32)
    batch = Batch(x_0, x_1, np.zeros_like(x_0), t, t)
    ours = eqx.filter_jit(TangentVelocity().losses)(model, DiffusionInterpolant(), batch)
    theirs = jax.jit(by_hand.losses)(weights, x_0, x_1, t)
    np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=1e-3)
    theirs = jax.jit(by_hand.log_ratio)(weights, x_1)
    np.testing.assert_allclose(theirs, eqx.filter_jit(model.log_ratio)(x_1), rtol=1e-4, atol=1e-4)


def _with(model, weights):
    """The library's model with weights of the script."""
    flat = [jnp.asarray(part) for layer in weights for part in layer]
    leaves, structure = jax.tree.flatten(eqx.filter(model, eqx.is_array))
    assert [leaf.shape for leaf in leaves] == [part.shape for part in flat]
    return eqx.combine(jax.tree.unflatten(structure, flat), model)


@pytest.mark.slow
def test_the_script_by_hand_learns_the_ratio():
    found = by_hand.measured(by_hand.Settings(steps=600, width=32), 0)
    spread = by_hand.true_log_ratio(by_hand.rows(0)[1]).std()
    assert found["rmse_1"] < 0.4 * spread
    assert found["programs"] == 2
    assert set(found) <= set(EngineRow.__dataclass_fields__)
    assert json.loads(json.dumps(found)) == found


def row(task, method, seed=0, **numbers):
    part = task.partition(":")[0]
    return EngineRow(
        "performance-engine", task, method, seed, part=part, status="finished", **numbers
    )


def page(folder, rows):
    keep_rows(folder / "performance-engine.jsonl", rows)
    return "\n".join(performance_sections(folder))


def test_the_page_compares_a_first_fit_with_both(tmp_path):
    seconds = {PRESENT: 3.0, OLDER: 12.0, BY_HAND: 2.0}
    shown = page(tmp_path, [row(engine_fits.COLD, m, seconds=s) for m, s in seconds.items()])
    assert f"takes 1.50 times as long as *{BY_HAND}* and 0.25 times as long as *{OLDER}*." in shown


def test_the_page_counts_programs_of_a_grid(tmp_path):
    sides = {PRESENT: (40, 1), OLDER: (90, 6)}
    rows = [
        row(engine_fits.GRID, m, programs=p, loop_programs=n, seconds=9.5, cpu_seconds=8.0)
        for m, (p, n) in sides.items()
    ]
    shown = page(tmp_path, rows)
    assert "| secant | 40 | 1 | 9.50 | 8.00 | 1 |" in shown
    assert f"| {OLDER} | 90 | 6 | 9.50 | 8.00 | 1 |" in shown


def test_speed_ups_and_errors_are_summed_by_geometric_means(tmp_path):
    rows = [
        row("defaults: a", PRESENT, warm_cpu_seconds=1.0, rmse_1=0.2),
        row("defaults: a", OLDER, warm_cpu_seconds=2.0, rmse_1=0.1),
        row("defaults: b", PRESENT, warm_cpu_seconds=1.0, rmse_1=0.1),
        row("defaults: b", OLDER, warm_cpu_seconds=8.0, rmse_1=0.8),
        row("defaults: c", PRESENT, warm_cpu_seconds=1.0, error=0.3),
        row("defaults: c", OLDER, warm_cpu_seconds=4.0, error=0.1),
        row(
            "defaults: c", OLDER, seed=1, warm_cpu_seconds=400.0, error=0.1
        ),  # of a seed of its own
        row("defaults: d", OLDER, warm_cpu_seconds=1.0),
        row("defaults: e", PRESENT, cpu_seconds=3.0),
        row("defaults: e", SECOND_PROCESS, cpu_seconds=1.5),
        row("defaults: e", OLDER, cpu_seconds=9.0),
    ]
    shown = page(tmp_path, rows)
    assert "| speed-up, warm | 4.00 | 2.00 | a | 3 |" in shown
    assert "| RMSE on p_1 | 0.50 | 2.00 | a | 2 |" in shown
    assert "| error of MI | 3.00 | 3.00 | c | 1 |" in shown
    assert "| speed-up, cold | 3.00 | 3.00 | e | 1 |" in shown
    assert "| speed-up, second process | 6.00 | 6.00 | e | 1 |" in shown


def test_a_warm_fit_is_shown_beside_the_earlier_one(tmp_path):
    costs = {"warm_programs": 3, "warm_steps": 500, "rmse_1": 0.25, "rmse_0": 0.5}
    rows = [
        row("warm: 500 rows, d=2", m, warm_seconds=s, warm_cpu_seconds=2 * s, **costs)
        for m, s in {PRESENT: 2.0, OLDER: 6.0}.items()
    ]
    shown = page(tmp_path, rows)
    assert "| 500 rows, d=2 | 2.00 | 6.00 | 3.00 | 3.00 | 500 → 500 | 3 → 3 |" in shown


def test_skipped_sides_are_not_on_the_page(tmp_path):
    skipped = EngineRow("performance-engine", "warm: a", OLDER, 0, part="warm", status="skipped: x")
    assert page(tmp_path, [skipped]) == ""
