"""A default fit compiles few programs, and runs few files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MOST_PROGRAMS = 10
MOST_FILES = 12

# Not counted: each of these is one formula or one family of formulas, with a page of its own, and
# can be read by itself.
MATHEMATICS = {
    "schedules.py",
    "paths.py",
    "time_samplers.py",
    "curricula.py",
    "integration.py",
    "models/",
    "targets/",
    "diagnostics/",
    "scaling.py",
    "_spread.py",
    "gaussians.py",
    "anchoring.py",
    "sizing.py",
    "training/step.py",
    "training/held_out.py",
    "training/optimisers.py",
}


@pytest.fixture(scope="module")
def cold():
    """The output of a fresh process, without cached programs."""
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"}
    script = Path(__file__).with_name("cold_fit.py")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_a_fit_and_its_scores_compile_few_programs(cold):
    assert "jit(run_steps)" in cold["programs"]  # there are some
    assert len(cold["programs"]) <= MOST_PROGRAMS, cold["programs"]


def is_mathematics(file):
    return any(file == known or file.startswith(known) for known in MATHEMATICS)


def test_every_name_in_the_list_is_run(cold):
    for known in MATHEMATICS:
        assert any(file == known or file.startswith(known) for file in cold["files"]), known


def test_a_fit_walks_through_few_other_files(cold):
    others = [file for file in cold["files"] if not is_mathematics(file)]
    assert len(others) <= MOST_FILES, others
