"""Fits in threads and in other processes: bit-identical to a single fit, or a clear error."""

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from tests import registry

from secant.training import checkpointing, keeping_best_on_interrupt

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(200, 2)), RNG.normal(1.0, size=(200, 2))])
Y = np.repeat([0, 1], 200)


def small(seed=0):
    return registry.new("classifier, nce", random_state=seed)


def answers(seed):
    return small(seed).fit(X, Y).log_ratio(X)


@pytest.fixture(scope="module")
def alone():
    return [answers(seed) for seed in range(3)]


def in_threads(work, arguments):
    """Run all at once, behind a barrier."""
    together = threading.Barrier(len(arguments))

    def begun(argument):
        together.wait()
        return work(argument)

    with ThreadPoolExecutor(len(arguments)) as threads:
        return list(threads.map(begun, arguments))


def test_fits_in_threads_have_the_bits_of_fits_alone(alone):
    for found, expected in zip(in_threads(answers, range(3)), alone, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_one_fitted_estimator_answers_many_threads(alone):
    fitted = small().fit(X, Y)
    for found in in_threads(lambda _: fitted.log_ratio(X), range(3)):
        np.testing.assert_array_equal(found, alone[0])


def test_each_thread_has_its_own_checkpoints_and_wish_to_stop(alone, tmp_path):
    def kept(seed):
        with checkpointing(tmp_path / str(seed)):
            return answers(seed)

    with checkpointing(tmp_path / "main"), keeping_best_on_interrupt() as wish:
        wish.set()  # of the main thread only: the others train to their end
        found = in_threads(kept, range(3))
    for one, expected in zip(found, alone, strict=True):
        np.testing.assert_array_equal(one, expected)
    assert not (tmp_path / "main").exists()  # made by the first training within
    for seed in range(3):
        files = [f.name for f in (tmp_path / str(seed)).iterdir()]
        assert files == ["training-0.checkpoint"]


def test_double_precision_in_one_thread_is_not_that_of_another(alone):
    began, done = threading.Event(), threading.Event()

    def elsewhere():
        with jax.enable_x64(True):
            began.set()
            done.wait(60.0)

    other = threading.Thread(target=elsewhere)
    other.start()
    began.wait()
    try:
        np.testing.assert_array_equal(answers(0), alone[0])
    finally:
        done.set()
        other.join()


@pytest.mark.slow
def test_an_export_does_not_change_the_precision_of_other_threads(tmp_path):
    pytest.importorskip("jax2onnx")
    from secant.deploy.export import export_onnx

    fitted, kinds, done = small().fit(X, Y), set(), threading.Event()

    def look():
        while not done.is_set():
            kinds.add(str(np.asarray(jax.numpy.zeros(1)).dtype))

    other = threading.Thread(target=look)
    other.start()
    try:
        export_onnx(fitted, tmp_path / "model.onnx")
    finally:
        done.set()
        other.join()
    assert kinds == {"float32"}


@pytest.mark.parametrize("new", [small, partial(registry.new, "kernel, ulsif")])
def test_pickles_answer_as_their_originals(new):
    unfitted = pickle.loads(pickle.dumps(new()))
    assert unfitted.get_params() == new().get_params()
    fitted = clone(unfitted).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.log_ratio(X), fitted.log_ratio(X))
    np.testing.assert_array_equal(again.fit(X, Y).log_ratio(X), fitted.log_ratio(X))


SCRIPT = """
import multiprocessing, sys, warnings
warnings.filterwarnings("ignore", message="os.fork")  # JAX's own, of the very thing that is tested
import numpy as np
import secant
from secant.models import ResidualMLP

rng = np.random.default_rng(0)
x_0, x_1 = rng.normal(size=(2, 200, 2))

def fitted(seed):
    training = secant.Training(steps=20, batch_size=32, warmup=5, evaluate_every=10)
    ratio = secant.ClassifierRatio(trunk=ResidualMLP(8, 0), training=training, random_state=seed)
    return ratio.fit_samples(x_0, x_1)

def total(seed):
    return float(fitted(seed).log_ratio(x_1).sum())

def by_kernels(seed):
    return float(secant.KernelRatio(random_state=seed).fit_samples(x_0, x_1).log_ratio(x_1).sum())

def told(work, seed):
    try:
        return work(seed)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def started(method, work):
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply_async(told, (work, 0)).get(timeout=300)

if __name__ == "__main__":
    for step in sys.argv[1:]:
        if step == "fit":
            print(total(0))
        else:
            method, work = step.split(":")
            print(started(method, globals()[work]))
"""


def printed(tmp_path, *steps):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), *steps], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="forks are detected on Linux")


@pytest.mark.slow
@linux_only
def test_forked_before_the_first_fit_it_works(tmp_path):
    forked, alone = printed(tmp_path, "fork:total", "fit")
    assert forked == alone


@pytest.mark.slow
@linux_only
def test_forked_after_a_fit_it_refuses_instead_of_hanging(tmp_path):
    alone, forked, kernel = printed(tmp_path, "fit", "fork:total", "fork:by_kernels")
    assert np.isfinite(float(alone))
    assert forked.startswith("ForkedProcessError: this process was forked from one that had used")
    assert "spawn" in forked
    assert np.isfinite(float(kernel))  # NumPy only, which cannot hang


@pytest.mark.slow
def test_spawned_processes_have_the_same_bits(tmp_path):
    alone, spawned = printed(tmp_path, "fit", "spawn:total")
    assert spawned == alone


@pytest.mark.slow
def test_joblib_workers_have_the_same_scores():
    folds = StratifiedKFold(2)
    alone = cross_val_score(small(), X, Y, cv=folds)
    np.testing.assert_array_equal(cross_val_score(small(), X, Y, cv=folds, n_jobs=2), alone)
    grid = {"loss": ["nce", "hellinger"]}
    searches = [GridSearchCV(small(), grid, cv=folds, n_jobs=n).fit(X, Y) for n in (1, 2)]
    first, second = (s.cv_results_["mean_test_score"] for s in searches)
    np.testing.assert_array_equal(first, second)
