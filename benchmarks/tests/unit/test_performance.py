import importlib
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox import filter_jit

from secant.models import ResidualMLP, SecantFunction
from secant.models.anchor import GaussianAnchor
from secant.models.velocity import MeanVelocity
from secant.paths import DiffusionInterpolant
from secant.targets.batch import Batch
from secant.targets.velocity import TangentVelocity
from secant.training import Training
from secant_bench.benchmark import Selection, attempted
from secant_bench.catalogue import Recipe, family
from secant_bench.performance.fresh_process import bytes_grown, called_alone
from secant_bench.performance.growth import GrowthRow, exponent, growth
from secant_bench.performance.ladders import (
    Climb,
    Goal,
    Ladders,
    Rung,
    RungRow,
    seconds_to_goal,
)
from secant_bench.performance.performance_report import performance_sections
from secant_bench.performance.timing import best_of_turns
from secant_bench.rows import Job, keep_rows

# The package has a function of that name.
parts_module = importlib.import_module("secant_bench.performance.parts")

MIB = 1 << 20


def climb(miss, seconds=lambda steps: steps / 1000, most=1e9):
    goal = Goal("task", 1.0, most)
    return Climb(goal, "method", lambda steps, seed: Rung(seconds(steps), miss(steps)))


def rungs(*misses, goal=1.0):
    return [
        RungRow("s", "t", "m", 0, goal=goal, steps=32 * 2**k, seconds=float(k + 1), miss=miss)
        for k, miss in enumerate(misses)
    ]


def test_a_climb_ends_when_two_fits_on_end_reach_the_goal():
    found = climb(lambda steps: 256.0 / steps).rungs(0)
    assert [steps for steps, _ in found] == [32, 128, 512, 2048]


@pytest.mark.parametrize(
    ("most", "later"), [(5.0, []), (30.0, [30.0]), (40.0, [26.0, 40.0]), (60.0, [26.0, 60.0])]
)
def test_a_climb_that_does_not_arrive_ends_with_all_the_seconds_it_may_take(most, later):
    found = climb(lambda steps: 2.0, lambda steps: 10.0 + steps / 32, most).rungs(0)
    assert [rung.seconds for _, rung in found] == [11.0, 14.0, *later]


def test_luck_on_the_way_does_not_count():
    assert seconds_to_goal(rungs(3.0, 0.5, 2.0, 0.9, 0.4)) == 4.0
    assert seconds_to_goal(rungs(0.5, 0.4)) == 1.0
    assert seconds_to_goal(rungs(0.5, 2.0)) is None
    assert seconds_to_goal(rungs(float("nan"), 0.1, 0.1)) == 2.0


def test_a_ladder_leaves_a_row_a_rung():
    suite = Ladders("ladder", "", (climb(lambda steps: 0.1),))
    (job,) = Selection(n_seeds=1).of(suite)
    rows = suite.run(job).rows
    assert [(row.steps, row.miss) for row in rows] == [(32, 0.1), (128, 0.1)]
    with pytest.raises(ValueError, match="sets steps"):
        suite.with_method("other", object)


def test_what_is_not_to_be_timed_comes_before_the_climb():
    done = []
    slow = climb(lambda steps: done.append(steps) or 0.1)
    suite = Ladders("ladder", "", (slow,), lambda: done.append("warm"))
    suite.run(*Selection(n_seeds=1).of(suite))
    assert done == ["warm", 32, 128]


def test_the_least_of_turns_is_kept():
    times = iter([3.0, 30.0, 1.0, 10.0, 2.0, 20.0, 5.0, 50.0, 4.0, 40.0])
    found = best_of_turns({"a": lambda: next(times), "b": lambda: next(times)})
    assert found == {"a": 1.0, "b": 10.0}


def test_exponents_are_of_the_larger_half():
    costs = {10**k: 5.0 if k < 3 else 1e-6 * 10 ** (2 * k) for k in range(1, 7)}
    rows = [GrowthRow("s", "t", "m", 0, by="rows", value=n, seconds=c) for n, c in costs.items()]
    assert exponent(rows, lambda row: row.seconds) == pytest.approx(2.0)
    assert np.isnan(exponent(rows[:1], lambda row: row.seconds))


def _grown_by(n_bytes):
    held_before = np.ones(100 * MIB, dtype=np.uint8)
    held_before.sum()
    del held_before  # nor freed memory
    return bytes_grown(lambda: _held(np.ones(n_bytes, dtype=np.uint8)))


def _grown_by_file(path):
    return bytes_grown(lambda: _held(np.memmap(path, mode="r")))


def _held(bytes_):
    assert bytes_.sum() == bytes_.size
    time.sleep(0.05)  # long enough to be seen


@pytest.mark.slow
def test_memory_is_of_the_function_alone():
    held = np.ones(300 * MIB, dtype=np.uint8)  # by this process, which must not count
    few, many = (called_alone(_grown_by, n * MIB) for n in (1, 200))
    assert held[0] == 1
    assert few < 20 * MIB
    assert many == pytest.approx(200 * MIB, abs=20 * MIB)


def test_pages_of_a_mapped_file_do_not_count(tmp_path):
    np.ones(100 * MIB, dtype=np.uint8).tofile(tmp_path / "rows")
    assert called_alone(_grown_by_file, tmp_path / "rows") < 20 * MIB


def test_growth_runs_where_it_matters():
    pairs = growth().pairs
    assert ("rows 10000000", "200 steps, rows in memory") in pairs
    assert ("columns 1000", "200 steps, rows in memory") not in pairs
    assert ("columns 1000", "200 steps, rows on disk") in pairs


@pytest.mark.slow
def test_the_cost_of_a_size_is_measured():
    suite = growth()
    job = Job("rows 1000", "scoring, rows on disk", 0)
    (row,) = suite.run(job).rows
    assert row.seconds > 0.0
    assert row.mib > 0.0


def test_a_family_is_named_by_its_beginning():
    members = family("performance")
    assert "performance-step" in members
    assert "performance-growth" in members
    assert family("core") == ("core",)
    assert family("nothing") == ("nothing",)
    for name in members:
        assert Recipe(name).build().alone


@pytest.mark.parametrize(
    ("misses_of_other", "shown", "verdict"),
    [
        ((9.0, 8.0), "> 4.00 | 8.00 | 4.00", "no other method has reached it after 4.00 s, 1.3"),
        ((9.0, 0.8), "4.00 | 0.80 | 4.00", "other does after 4.00 s, 1.3"),
    ],
)
def test_the_page_says_who_was_first(tmp_path, monkeypatch, misses_of_other, shown, verdict):
    monkeypatch.chdir(tmp_path)
    for method, misses in {"secant": (0.5, 0.4), "other": misses_of_other}.items():
        rows = [
            RungRow(
                "performance-accuracy",
                "Gaussians",
                method,
                0,
                goal=1.0,
                steps=32 * 2**k,
                seconds=3.0 + k,
                miss=miss,
                status="finished",
            )
            for k, miss in enumerate(misses)
        ]
        keep_rows(tmp_path / "performance-accuracy.jsonl", rows)
    page = "\n".join(performance_sections(tmp_path))
    assert "| Gaussians | secant | 3.00 | 0.40 | 4.00 | 1 |" in page
    assert f"| Gaussians | other | {shown} | 1 |" in page
    assert f"**Gaussians**: secant reaches the goal after 3.00 s, {verdict} times as long." in page
    assert (tmp_path / "docs/figures/time-to-accuracy.png").exists()


def test_nothing_is_said_of_what_was_not_measured(tmp_path):
    assert performance_sections(tmp_path) == []


class Wave(SecantFunction):
    """sin(a·x + t), which no velocity was made for."""

    def time_score(self, x, t):
        return jnp.sin(x @ jnp.array([0.7, -1.1, 0.4]) + t)

    def parts(self, x, l, t):
        return self.time_score(x, t)[:, None]


def test_the_mean_velocity_has_the_loss_of_the_velocity_with_less_noise():
    path = DiffusionInterpolant()
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(3, 3))
    mean, covariance = np.array([0.5, -0.3, 1.0]), mix @ mix.T / 3.0 + 0.3 * np.eye(3)
    anchor = GaussianAnchor.fitted(np.zeros(3), np.eye(3), mean, covariance, path)
    builder = MeanVelocity(ResidualMLP(4))
    exact = builder.anchored(builder.build(3, key=jax.random.key(0)), anchor)
    n = 200_000
    x_0, x_1 = rng.normal(size=(n, 3)), rng.multivariate_normal(mean, covariance, n)
    t, z = rng.uniform(size=n), np.zeros((n, 3))
    batch = Batch(*(x.astype(np.float32) for x in (x_0, x_1, z, t, t)))
    plain, smooth = (
        np.asarray(filter_jit(target.losses)(Wave(), path, batch), dtype=np.float64)
        for target in (TangentVelocity(), parts_module._MeanVelocity(exact))
    )
    gap = plain - smooth
    assert abs(gap.mean()) < 4.0 * gap.std() / np.sqrt(n)
    assert smooth.var() < 0.9 * plain.var()


def test_times_drawn_by_importance_weigh_alike():

    @jax.jit
    def mean(key):
        t = parts_module._IMPORTANT.sample(key, 100_000)
        return jnp.mean(parts_module._unweighted(t) * (t * (1.0 - t)) ** 2)

    found = mean(jax.random.key(0))
    # Stratified: the error is of the order 1e-5. Beyond the bound of ten the integrand is 1e-3.
    assert float(found) == pytest.approx(1.0 / 30.0, rel=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for _, name in parts_module.parts().pairs])
def test_every_variant_can_be_fitted(name, monkeypatch):
    monkeypatch.setattr(parts_module, "_training", lambda steps=8, **kw: Training(steps=8, **kw))
    suite = parts_module.parts()
    (row,) = attempted(suite, Job(suite.pairs[0][0], name, 0)).rows
    assert not row.traceback
    assert np.isfinite(row.rmse_1)
