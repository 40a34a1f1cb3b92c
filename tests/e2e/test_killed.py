"""Fits whose processes are killed repeatedly give the same models."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from secant.model_files.container import read

SCRIPT = Path(__file__).with_name("resumed_fit.py")
CHUNKS = 30  # of steps in a training


class Fit:
    """A fit that is run, stopped and resumed until its model is saved."""

    def __init__(self, kind, folder, cache):
        folder.mkdir()
        self.folder, self.model = folder / "checkpoints", folder / "model.secant"
        self._command = [sys.executable, SCRIPT, kind, self.folder, self.model]
        self._environment = {
            **os.environ,
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }

    def run(self, *, stop_at=None, share=0.0, number=signal.SIGKILL):
        """Run it; send a signal at a chunk, after some share of the time that a chunk takes.

        Returns:
            The exit code.
        """
        process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.PIPE, text=True
        )
        with process:
            began = time.perf_counter()
            for chunk, line in enumerate(process.stdout, 1):
                if chunk == 1:
                    began = time.perf_counter()
                if chunk == stop_at and line == "chunk\n":
                    time.sleep(share * (time.perf_counter() - began) / chunk)
                    process.send_signal(number)
        return process.returncode

    def check_files(self, whole):
        """Every file is whole, the model is the right one, and leftovers are few."""
        for path in self.folder.glob("*.checkpoint"):
            read(path)
        assert not self.model.exists() or self.model.read_bytes() == whole
        assert len(list(self.folder.glob(".*.part"))) <= 1


def killed_until_it_ends(fit, whole, rng, most):
    """Kill the fit at most so many times; return the number of kills."""
    for kills in range(most):
        code = fit.run(stop_at=rng.randint(1, CHUNKS), share=rng.uniform(0.0, 2.0))
        fit.check_files(whole)
        if code == 0:
            return kills
        assert code == -signal.SIGKILL
    assert fit.run() == 0
    return most


@pytest.mark.slow
def test_a_fit_that_was_terminated_and_killed_ends_the_same(tmp_path):
    one, other = (Fit("one training", tmp_path / name, tmp_path / "cache") for name in "ab")
    assert one.run() == 0
    whole = one.model.read_bytes()
    assert other.run(stop_at=3, number=signal.SIGTERM) == -signal.SIGTERM
    assert other.run(stop_at=5) == -signal.SIGKILL
    other.check_files(whole)
    assert not other.model.exists()
    assert other.run() == 0
    assert other.model.read_bytes() == whole


@pytest.mark.slow
def test_fifty_kills_at_random_moments(tmp_path, capsys):
    rng, kills, same, fits = random.Random(0), 0, 0, 0
    unbroken = Fit("two trainings", tmp_path / "unbroken", tmp_path / "cache")
    assert unbroken.run() == 0
    whole = unbroken.model.read_bytes()
    while kills < 50:
        fit = Fit("two trainings", tmp_path / f"fit-{fits}", tmp_path / "cache")
        kills += killed_until_it_ends(fit, whole, rng, 50 - kills)
        fits += 1
        same += fit.model.read_bytes() == whole
        with capsys.disabled():
            print(f"\n{kills} kills over {fits} fits: {same} of {fits} models bit-identical")
    assert same == fits
