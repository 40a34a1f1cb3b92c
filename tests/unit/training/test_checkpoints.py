"""Trainings that were stopped, and went on."""

from contextlib import nullcontext

import jax
import numpy as np
import pytest
from sklearn.base import clone
from tests.unit.training.dial import Towards, turned
from tests.unit.training.test_interruption import press

import secant
from secant.estimators import neural
from secant.exceptions import TrainingWarning
from secant.training import CheckpointError, Status, checkpointing, keeping_best_on_interrupt
from secant.training.loop import TrainingResult

pytestmark = pytest.mark.usefixtures("unoptimised")


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


def test_another_fit_is_refused(tmp_path):
    stopped_at(20, tmp_path, Towards(5.0), Towards(1.0))
    with checkpointing(tmp_path), pytest.raises(CheckpointError, match="of another fit"):
        turned(Towards(4.0), Towards(1.0))


def test_a_damaged_file_is_refused(tmp_path):
    stopped_at(20, tmp_path, Towards(5.0), Towards(1.0))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    with checkpointing(tmp_path), pytest.raises(CheckpointError, match="cut short"):
        turned(Towards(5.0), Towards(1.0))


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
        patched.setattr(neural, "progress_bar", lambda *_, **__: nullcontext(press(5)))
        with keeping_best_on_interrupt(), checkpointing(tmp_path), pytest.warns(TrainingWarning):
            ratio.fit_samples(x_0, x_1)
    assert ratio.diagnostics_.steps == 5
    assert not np.array_equal(ratio.log_ratio(x_1), whole)
    with checkpointing(tmp_path):
        np.testing.assert_array_equal(ratio.fit_samples(x_0, x_1).log_ratio(x_1), whole)
    for other, x in ((ratio.set_params(random_state=1), x_0), (ratio, x_0 + 1e-6)):
        with checkpointing(tmp_path), pytest.raises(CheckpointError, match="of another fit"):
            other.fit_samples(x, x_1)
