"""A third party's suite and methods, found by `benchmarks.tests.unit.plugged:name`."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from secant.datasets import block_gaussians
from secant_bench import Entry, Suite, Task


class Straight:
    """A ratio of shifted normals."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit_samples(self, x_0, x_1):
        self.shift = x_1.mean(axis=0) - x_0.mean(axis=0)
        return self

    def log_ratio(self, X):
        return X @ self.shift - 0.5 * self.shift @ self.shift


class Slow(Straight):
    """The same, but slow."""

    def fit_samples(self, x_0, x_1):
        time.sleep(0.02)
        return super().fit_samples(x_0, x_1)


class Deadly(Straight):
    """The same, but the first process to fit it, recorded in a file, is killed."""

    def fit_samples(self, x_0, x_1):
        mark = Path(os.environ["SECANT_TEST_MARK"])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit_samples(x_0, x_1)


class Doomed(Straight):
    """The same, but every process is killed."""

    def fit_samples(self, x_0, x_1):
        os.kill(os.getpid(), signal.SIGKILL)


def _suite(name, *methods):
    entries = [
        Entry(Task(block_gaussians(2), n), method.__name__, method, (None,))
        for n in (1000, 2000, 3000)
        for method in methods
    ]
    return Suite(name, "of a third party", tuple(entries))


plain = _suite("plain", Straight)
second_version = replace(plain, name="second-version", version=2)


def slow():
    return _suite("slow", Straight, Slow)


deadly = _suite("deadly", Straight, Deadly)
doomed = Suite("doomed", "", (*plain.entries[:1], *_suite("", Doomed).entries[:1]), n_seeds=1)
