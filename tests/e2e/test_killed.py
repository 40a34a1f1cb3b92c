"""Fits whose processes are killed, again and again, and what becomes of their models."""

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


class Fit:
    """A fit that may be run, stopped and run again, until its model is saved."""

    def __init__(self, kind, folder, cache):
        self.folder, self.model = folder / "checkpoints", folder / "model.secant"
        self._command = [sys.executable, SCRIPT, kind, self.folder, self.model]
        self._environment = {
            **os.environ,
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }

    def run(self, *, seconds=None, chunks=1, number=signal.SIGKILL):
        """Run it; where seconds are given, send a signal so long after some chunk has begun.

        Returns:
            The exit code and the seconds from the first chunk to the end.
        """
        process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.PIPE, text=True
        )
        with process:
            for _ in range(chunks):
                process.stdout.readline()
            began = time.perf_counter()
            try:
                process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                process.communicate()
        return process.returncode, time.perf_counter() - began

    def check_files(self, whole):
        """Every file is whole, the model is the right one, and leftovers are few."""
        for path in self.folder.glob("*.checkpoint"):
            read(path)
        assert not self.model.exists() or self.model.read_bytes() == whole
        assert len(list(self.folder.glob(".*.part"))) <= 1


def killed_until_it_ends(fit, whole, seconds, rng, most):
    """How many kills it took, at most so many, each within the time a fit takes in all."""
    for kills in range(most):
        code, _ = fit.run(seconds=rng.uniform(0.0, seconds))
        fit.check_files(whole)
        if code == 0:
            return kills
        assert code == -signal.SIGKILL
    assert fit.run()[0] == 0
    return most


def test_a_fit_that_was_terminated_and_killed_twice_ends_the_same(tmp_path):
    fits = [Fit("one training", tmp_path / name, tmp_path / "cache") for name in ("one", "other")]
    for fit in fits:
        fit.model.parent.mkdir()
    assert fits[0].run()[0] == 0
    whole = fits[0].model.read_bytes()
    assert fits[1].run(seconds=0.0, chunks=3, number=signal.SIGTERM)[0] == -signal.SIGTERM
    for _ in range(2):
        assert fits[1].run(seconds=0.0, chunks=5)[0] == -signal.SIGKILL
        fits[1].check_files(whole)
        assert not fits[1].model.exists()
    assert fits[1].run()[0] == 0
    assert fits[1].model.read_bytes() == whole


@pytest.mark.slow
def test_fifty_kills_at_random_moments(tmp_path, capsys):
    rng, cache, kills, same, fits = random.Random(0), tmp_path / "cache", 0, 0, 0
    first = tmp_path / "unbroken"
    first.mkdir()
    Fit("two trainings", first, cache).run()  # compiles
    unbroken = Fit("two trainings", tmp_path / "again", cache)
    unbroken.model.parent.mkdir()
    code, seconds = unbroken.run()
    assert code == 0
    whole = unbroken.model.read_bytes()
    while kills < 50:
        folder = tmp_path / f"fit-{fits}"
        folder.mkdir()
        fit = Fit("two trainings", folder, cache)
        kills += killed_until_it_ends(fit, whole, seconds, rng, 50 - kills)
        fits += 1
        same += fit.model.read_bytes() == whole
        with capsys.disabled():
            print(f"\n{kills} kills over {fits} fits: {same} of {fits} models bit-identical")
    assert same == fits
