"""The argument `resume` of every fit."""

import os
import signal
import threading
from dataclasses import replace

import jax
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from tests import tiny

import secant
from secant.models.velocity import MeanVelocity
from secant.tasks.density import DensityEstimator
from secant.training import loop

pytestmark = pytest.mark.usefixtures("unoptimised", "as_in_a_terminal")

SHORT = {
    "training": replace(
        tiny.TRAINING, steps=30, evaluate_every=5, warmup=5, average=0.5, learning_rate=0.02
    ),
    "random_state": 0,
}
CLASSIFIER = secant.ClassifierRatio(trunk=tiny.TRUNK, scaling=secant.Standardise(), **SHORT)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(0, 1, (200, 2)), rng.normal(1.0, 1, (200, 2))


def sampler(key, n):
    x_0, x_1 = jax.random.normal(key, (2, n, 2))
    return x_0, x_1 + 1.0


def labelled(samples):
    return np.concatenate(samples), np.repeat([0, 1], [len(x) for x in samples])


SWITCH = secant.ChasmSwitch(CLASSIFIER, CLASSIFIER, rows_to_look=50, random_state=0)
DENSITY = DensityEstimator("gaussian", estimator=CLASSIFIER, random_state=0)
ENTROPY = secant.PathEntropy(MeanVelocity(tiny.TRUNK), anchor=False, **SHORT)

# A fit by each door, what it answers, and at which chunk of steps to stop it.
DOORS = {
    "fit": (CLASSIFIER, lambda e, s, **k: e.fit(*labelled(s), **k).log_ratio(s[1]), 3),
    "samples": (CLASSIFIER, lambda e, s, **k: e.fit_samples(*s, **k).log_ratio(s[1]), 3),
    "sampler": (CLASSIFIER, lambda e, s, **k: e.fit_sampler(sampler, **k).log_ratio(s[1]), 3),
    "switch": (SWITCH, lambda e, s, **k: e.fit_samples(*s, **k).log_ratio(s[1]), 9),
    "density": (DENSITY, lambda e, s, **k: e.fit(s[0], **k).score_samples(s[1]), 3),
    "entropy": (ENTROPY, lambda e, s, **k: e.fit_samples(*s, **k).difference_, 3),
}


def at_chunk(number, act, monkeypatch):
    """Call a function before a chunk of steps; the length of the result is the number of chunks."""
    run_steps, chunks = loop.run_steps, []

    def run(*arguments):
        chunks.append(1)
        if len(chunks) == number:
            act()
        return run_steps(*arguments)

    monkeypatch.setattr(loop, "run_steps", run)
    return chunks


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("door", DOORS)
def test_ctrl_c_takes_effect_and_the_same_call_goes_on(door, samples, tmp_path, monkeypatch):
    estimator, answer, chunk = DOORS[door]
    whole = answer(clone(estimator), samples)
    with monkeypatch.context() as patched:
        at_chunk(chunk, press, patched)
        with pytest.raises(KeyboardInterrupt):
            answer(clone(estimator), samples, resume=tmp_path)
    chunks = at_chunk(-1, press, monkeypatch)
    again = answer(clone(estimator), samples, resume=str(tmp_path))
    np.testing.assert_array_equal(again, whole)
    done = len(chunks)
    np.testing.assert_array_equal(answer(clone(estimator), samples, resume=tmp_path), whole)
    assert len(chunks) == done  # nothing is trained twice
    total = 12 if door == "switch" else 6
    assert done == total - chunk


def test_a_handler_of_ones_own_is_called_once_the_checkpoint_is_there(
    samples, tmp_path, monkeypatch
):
    found = []
    earlier = signal.signal(
        signal.SIGTERM, lambda *_: found.append([p.name for p in tmp_path.iterdir()])
    )
    try:
        chunks = at_chunk(3, lambda: press(signal.SIGTERM), monkeypatch)
        clone(CLASSIFIER).fit_samples(*samples, resume=tmp_path)
        assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, earlier)
    finally:
        signal.signal(signal.SIGTERM, earlier)
    assert found == [["training-0.checkpoint"]]
    assert len(chunks) == 6  # it returned, and so the training went on


def test_a_second_ctrl_c_does_not_wait(samples, tmp_path, monkeypatch):
    def twice():
        press()
        press()

    at_chunk(3, twice, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        clone(CLASSIFIER).fit_samples(*samples, resume=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_in_another_thread_there_are_checkpoints_but_no_signals(samples, tmp_path):
    ratio = clone(CLASSIFIER)
    thread = threading.Thread(target=lambda: ratio.fit_samples(*samples, resume=tmp_path))
    thread.start()
    thread.join()
    assert ratio.diagnostics_.steps == 30
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("ratio", [secant.KernelRatio(), secant.SklearnRatio()])
def test_where_nothing_is_trained_nothing_is_written(ratio, samples, tmp_path):
    ratio = clone(ratio).set_params(random_state=0)
    whole = ratio.fit_samples(*samples).log_ratio(samples[1])
    again = ratio.fit_samples(*samples, resume=tmp_path / "new").log_ratio(samples[1])
    np.testing.assert_array_equal(again, whole)
    assert not (tmp_path / "new").exists()


def test_other_data_other_weights_and_another_seed_are_refused(samples, tmp_path):
    ratio = clone(CLASSIFIER).fit_samples(*samples, resume=tmp_path)
    x_0, x_1 = samples
    moved = x_0.copy()
    moved[np.argsort(np.abs(x_0[:, 0] - np.median(x_0[:, 0])))[:5], 0] += 1e-3
    with pytest.raises(secant.CheckpointError, match="of another fit, with other data"):
        ratio.fit_samples(moved, x_1, resume=tmp_path)
    with pytest.raises(secant.CheckpointError, match="of another fit, with other"):
        ratio.fit_samples(x_0, x_1, weight_0=np.arange(200.0), resume=tmp_path)
    with pytest.raises(secant.CheckpointError, match="another seed: `random_state` differs"):
        ratio.set_params(random_state=1).fit_samples(x_0, x_1, resume=tmp_path)


def test_what_cannot_be_resumed_is_told_at_once(samples, tmp_path):
    ratio = clone(CLASSIFIER)
    with pytest.raises(TypeError, match=r"`resume` must be a folder, .* got True"):
        ratio.fit_samples(*samples, resume=True)
    (tmp_path / "file").touch()
    with pytest.raises(secant.CheckpointError, match="it is a file, not a folder"):
        ratio.fit_samples(*samples, resume=tmp_path / "file")
    with pytest.raises(ValueError, match="give `random_state` an integer, got None"):
        ratio.set_params(random_state=None).fit_samples(*samples, resume=tmp_path)


def test_scikit_learn_does_not_hand_the_folder_on(samples, tmp_path):
    folds = KFold(2, shuffle=True, random_state=0)
    grid = {"loss": ["nce", "kl"]}
    search = GridSearchCV(clone(CLASSIFIER), grid, cv=folds, error_score="raise")
    with sklearn.config_context(enable_metadata_routing=True):
        assert "resume" not in clone(CLASSIFIER).get_metadata_routing().fit.requests
        assert "resume" not in DENSITY.get_metadata_routing().fit.requests
        with pytest.raises(TypeError, match="resume"):
            search.fit(*labelled(samples), resume=tmp_path)
    with pytest.raises(secant.CheckpointError, match="A folder is for one fit"):
        search.fit(*labelled(samples), resume=tmp_path)
