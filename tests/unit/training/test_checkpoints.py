"""Stopped training runs: what is kept, and that resuming gives the same result."""

import itertools
import os
import signal
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.base import clone
from tests.unit.training.dial import Dial, Towards, press, source, turned

import secant
from secant import fitting
from secant._host.provenance import versions
from secant.exceptions import CheckpointWarning, TrainingWarning
from secant.training import (
    CheckpointError,
    Status,
    checkpoint_files,
    checkpointing,
    keeping_best_on_interrupt,
    loop,
)
from secant.training.checkpoints import is_interrupted
from secant.training.loop import TrainingResult

pytestmark = pytest.mark.usefixtures("unoptimised", "as_in_a_terminal")


def same(one: TrainingResult, other: TrainingResult) -> bool:
    weights = zip(jax.tree.leaves(one.model), jax.tree.leaves(other.model), strict=True)
    records = [[r._replace(seconds=0.0) for r in found.history] for found in (one, other)]
    return (
        all(np.array_equal(a, b) for a, b in weights)
        and np.array_equal(*(np.array(found) for found in records), equal_nan=True)
        and (one.status, one.best_step, one.held_out)
        == (other.status, other.best_step, other.held_out)
    )


def stopped_at(step, folder, *targets):
    with keeping_best_on_interrupt(), checkpointing(folder):
        result = turned(*targets, report=press(step))
    assert (result.status, result.steps) == (Status.INTERRUPTED, step)


@pytest.mark.parametrize("step", [10, 50, 90])
def test_what_was_stopped_ends_as_if_it_never_had(step, tmp_path):
    # The best state lies before the last two stops: it must come from the file.
    whole = turned(Towards(5.0), Towards(1.0))
    stopped_at(step, tmp_path, Towards(5.0), Towards(1.0))
    with checkpointing(tmp_path):
        result = turned(Towards(5.0), Towards(1.0))
    assert same(result, whole)
    assert not same(result, turned(Towards(4.0), Towards(1.0)))


def test_a_finished_training_is_not_repeated_and_the_next_has_a_file_of_its_own(tmp_path):
    def both(report=lambda record: None):
        first = turned(Towards(5.0), Towards(5.0), report=report)
        return first, turned(Towards(3.0), Towards(3.0), report=report)

    with checkpointing(tmp_path):
        whole = both()
    assert len(list(tmp_path.iterdir())) == 2
    looks = []
    with checkpointing(tmp_path):
        again = both(report=looks.append)
    assert looks == []
    assert all(same(*pair) for pair in zip(whole, again, strict=True))


def test_it_is_written_no_more_often_than_asked(tmp_path):
    seen = []

    def look(record):
        seen.append(len(list(tmp_path.iterdir())))

    with checkpointing(tmp_path, every_seconds=3600.0):
        turned(Towards(5.0), Towards(5.0), report=look)
    assert set(seen) == {0}
    assert len(list(tmp_path.iterdir())) == 1
    seen.clear()
    with checkpointing(tmp_path / "often", every_seconds=0.0):
        turned(
            Towards(5.0),
            Towards(5.0),
            report=lambda _: seen.append(len(list((tmp_path / "often").iterdir()))),
        )
    assert seen[1:] == [1] * (len(seen) - 1)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"target": Towards(4.0)}, "with other settings"),
        ({"learning_rate": 0.2}, "with other settings"),
        ({"rows": source(n=7)}, "with other data"),
        ({"model": Dial(jnp.ones(()))}, "with another model to begin from"),
    ],
)
def test_another_fit_is_refused_and_what_differs_is_told(other, words, tmp_path):
    stopped_at(20, tmp_path, Towards(5.0), Towards(1.0))
    target = other.pop("target", Towards(5.0))
    with checkpointing(tmp_path), pytest.raises(CheckpointError, match=words):
        turned(target, Towards(1.0), **other)


def test_a_stop_where_patience_ran_out_is_no_further_step(tmp_path):
    whole = turned(Towards(5.0), Towards(1.0), patience=2)
    assert whole.status is Status.EARLY_STOPPED
    with keeping_best_on_interrupt(), checkpointing(tmp_path):
        stopped = turned(Towards(5.0), Towards(1.0), patience=2, report=press(whole.steps))
    assert stopped.status is Status.INTERRUPTED
    with checkpointing(tmp_path):
        assert same(turned(Towards(5.0), Towards(1.0), patience=2), whole)


def test_time_counts_on_and_a_larger_budget_goes_on(tmp_path, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(loop.time, "perf_counter", lambda: float(next(clock)))
    whole = turned(Towards(5.0), Towards(5.0))

    def budget(seconds, report=lambda record: None):
        with checkpointing(tmp_path, every_seconds=0.0):
            return turned(Towards(5.0), Towards(5.0), max_seconds=seconds, report=report)

    first = budget(10.0)
    assert first.status is Status.TIME_UP
    assert first.history[-1].seconds > 10.0
    looks = []
    again = budget(10.0, looks.append)
    assert (again.status, again.steps, looks) == (Status.TIME_UP, first.steps, [])
    longer = budget(1e6, looks.append)
    assert looks[0].seconds > first.history[-1].seconds
    assert same(longer, whole)


def test_other_versions_are_told_and_the_fit_goes_on(tmp_path, monkeypatch):
    whole = turned(Towards(5.0), Towards(1.0))
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint_files, "versions", lambda: {**versions(), "jax": "0.0.1"})
        stopped_at(20, tmp_path, Towards(5.0), Towards(1.0))
    message = r"was written with jax 0\.0\.1 \(now [\d.]+\): the fit resumes"
    with checkpointing(tmp_path), pytest.warns(CheckpointWarning, match=message):
        assert same(turned(Towards(5.0), Towards(1.0)), whole)


def test_outside_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turned(Towards(5.0), Towards(5.0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "ratio", [secant.SecantRatio(anchor=False), secant.ClassifierRatio()], ids=["path", "direct"]
)
def test_an_estimator_ends_bit_by_bit_the_same(ratio, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(0, 1, (300, 2)), rng.normal(0.5, 1, (300, 2))
    short = secant.Training(
        steps=40, batch_size=64, evaluate_every=5, learning_rate=3e-3, warmup=5, average=0.5
    )
    ratio = clone(ratio).set_params(training=short, scaling=secant.Standardise(), random_state=0)
    whole = ratio.fit_samples(x_0, x_1).log_ratio(x_1)
    with monkeypatch.context() as patched:
        patched.setattr(fitting, "progress_bar", lambda *_, **__: nullcontext(press(5)))
        with keeping_best_on_interrupt(), checkpointing(tmp_path), pytest.warns(TrainingWarning):
            ratio.fit_samples(x_0, x_1)
    assert ratio.diagnostics_.steps == 5
    assert not np.array_equal(ratio.log_ratio(x_1), whole)
    with checkpointing(tmp_path):
        np.testing.assert_array_equal(ratio.fit_samples(x_0, x_1).log_ratio(x_1), whole)
    for other, x in ((ratio.set_params(random_state=1), x_0), (ratio, x_0 + 1e-6)):
        with checkpointing(tmp_path), pytest.raises(CheckpointError, match="of another fit"):
            other.fit_samples(x, x_1)


def test_the_first_ends_the_training_and_keeps_the_best():
    # The held-out loss is lowest when the weight passes 1, long before step 50.
    whole = turned(Towards(5.0), Towards(1.0))
    with keeping_best_on_interrupt() as wish:
        result = turned(Towards(5.0), Towards(1.0), report=press(50))
        assert wish.is_set()
    assert result.status is Status.INTERRUPTED
    assert not result.status.is_good
    assert "best state so far is kept" in result.status.value
    assert result.steps == 50
    assert 0 < result.best_step == whole.best_step < 50
    assert result.model.weight == whole.model.weight


def test_so_does_the_end_of_a_job():
    with keeping_best_on_interrupt():
        result = turned(Towards(5.0), Towards(5.0), report=press(20, signal.SIGTERM))
    assert (result.status, result.steps) == (Status.INTERRUPTED, 20)


def test_later_stages_of_the_same_fit_do_not_begin():
    with keeping_best_on_interrupt():
        turned(Towards(5.0), Towards(5.0), report=press(10))
        second = turned(Towards(5.0), Towards(5.0))
    assert second.status is Status.INTERRUPTED
    assert second.steps == 0


def test_the_second_is_passed_on():
    with keeping_best_on_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_without_it_the_first_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        turned(Towards(5.0), Towards(5.0), report=press(10))


def test_afterwards_all_is_as_before():
    earlier = signal.getsignal(signal.SIGINT)
    with keeping_best_on_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        assert is_interrupted()
    assert not is_interrupted()
    assert signal.getsignal(signal.SIGINT) is earlier


def test_what_the_process_ignores_is_still_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as by `nohup`
    with keeping_best_on_interrupt():
        result = turned(Towards(5.0), Towards(5.0), report=press(20))
    assert result.status is Status.FINISHED


def test_a_training_that_was_done_anyway_is_finished():
    with keeping_best_on_interrupt():
        result = turned(Towards(5.0), Towards(5.0), report=press(20), steps=20)
    assert result.status is Status.FINISHED
