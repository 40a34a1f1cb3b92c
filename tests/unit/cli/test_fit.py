"""`secant fit`: the file, the messages, and Ctrl-C."""

import errno
import json
import os
import signal

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import secant
from secant._host import atomic_files
from secant.cli import app
from secant.model_files import read_metadata, saving
from secant.tables.encoding import Encoding
from secant.tables.files import read_table, write_table
from secant.training import loop

pytestmark = pytest.mark.usefixtures("unoptimised", "as_in_a_terminal")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, mean in (("a.csv", 0.0), ("b.csv", 1.0)):
        columns = {"x": rng.normal(mean, 1.0, 300), "y": rng.normal(size=300)}
        write_table(folder / name, pa.table(columns))
    # One setting for all tests, because each other one needs another program.
    (folder / "quick.toml").write_text(
        "method = 'classifier'\n[training]\nsteps = 50\nevaluate-every = 10\npatience = 7\n"
    )
    return folder


def fit(folder, *arguments, code=0):
    command = ["fit", folder / "a.csv", folder / "b.csv", "-o", folder / "m.secant", *arguments]
    command += ["--config", folder / "quick.toml", "--steps", "30"]
    found = CliRunner().invoke(app, [str(a) for a in command])
    assert found.exit_code == code, found.output
    return found


def test_the_model_answers_as_it_should(tables):
    result = json.loads(fit(tables, "--json").stdout)
    ratio = secant.load(tables / "m.secant")
    encoding = Encoding.from_json(read_metadata(tables / "m.secant")["encoding"])
    assert encoding.inputs == ("x", "y")
    assert type(ratio).__name__ == result["result"]["estimator"] == "ClassifierRatio"
    x = encoding.encode(read_table(tables / "b.csv")).rows
    # log N(x; 1, 1) − log N(x; 0, 1) = x − 1/2; the Gaussian anchor has it but for its moments.
    error = ratio.log_ratio(x) - (x[:, 0] - 0.5)
    assert np.sqrt(np.mean(error**2)) < 0.35
    assert [column.name for column in ratio.diagnostics_.drift] == ["x", "y"]


def test_settings_reach_the_training(tables):
    fit(tables, "--seed", 5)
    ratio = secant.load(tables / "m.secant")
    assert (ratio.training.steps, ratio.training.patience) == (30, 7)
    assert ratio.random_state == 5
    assert ratio.diagnostics_.steps == 30


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_the_best_so_far_and_the_fit_goes_on(number, tables, monkeypatch):
    fit(tables)
    whole = (tables / "m.secant").read_bytes()
    run_steps, chunks = loop.run_steps, []

    def pressed(*arguments):
        chunks.append(arguments)
        if len(chunks) == 2:
            os.kill(os.getpid(), number)
        return run_steps(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "run_steps", pressed)
        _stopped(tables, chunks)
    refused = fit(tables, code=2)
    assert "Resume it by the same command with --resume" in refused.stderr
    fit(tables, "--resume")
    assert _answers(tables / "m.secant", whole)
    assert not (tables / "m.secant.checkpoint").exists()
    nothing = fit(tables, "--resume", code=2)
    assert "to resume from: run the command without --resume" in nothing.stderr


def _answers(path, whole):
    """Whether a model file answers as another did, bit by bit."""
    other = path.with_name("whole.secant")
    other.write_bytes(whole)
    x = np.random.default_rng(1).normal(size=(50, 2))
    return np.array_equal(secant.load(path).log_ratio(x), secant.load(other).log_ratio(x))


def _stopped(tables, chunks):
    (tables / "m.secant").unlink(missing_ok=True)
    found = fit(tables, "--json", code=130)
    assert len(chunks) == 2
    assert json.loads(found.stdout)["result"]["status"] == "interrupted"
    assert "holds the best state so far" in found.stderr
    assert "the same command --resume" in found.stderr
    ratio = secant.load(tables / "m.secant")
    assert ratio.diagnostics_.status.name == "INTERRUPTED"
    assert ratio.diagnostics_.steps == 20
    assert np.isfinite(ratio.log_ratio([[0.0, 0.0]])).all()


def test_a_fit_that_fails_leaves_no_checkpoint(tables, monkeypatch):
    monkeypatch.setattr(loop, "run_steps", None)
    fit(tables, code=3)
    assert not (tables / "m.secant.checkpoint").exists()


def test_a_full_disk_at_the_end_leaves_the_checkpoint(tables, monkeypatch):
    fit(tables)
    whole = (tables / "m.secant").read_bytes()

    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(saving, "write_atomically", full)
        told = fit(tables, code=2).stderr
    assert "m.secant: the disk is full. The training is kept in" in " ".join(told.split())
    assert "run the same command with --resume" in " ".join(told.split())
    assert (tables / "m.secant").read_bytes() == whole
    with monkeypatch.context() as patched:
        patched.setattr(loop, "run_steps", None)  # there is nothing left to train
        fit(tables, "--resume")
    assert _answers(tables / "m.secant", whole)
    assert not (tables / "m.secant.checkpoint").exists()


def test_a_stop_too_early_for_a_checkpoint_says_so(tables, monkeypatch):
    best = loop._Best

    def pressed(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return best(*arguments)

    monkeypatch.setattr(loop, "_Best", pressed)
    told = fit(tables, code=130).stderr
    assert "no checkpoint to resume from" in told
    assert "--resume" not in told
    assert not (tables / "m.secant.checkpoint").exists()


def test_an_empty_folder_of_a_killed_fit_is_no_hindrance(tables):
    (tables / "m.secant.checkpoint").mkdir()
    assert "there is no" in fit(tables, "--resume", code=2).stderr
    fit(tables)
    assert not (tables / "m.secant.checkpoint").exists()


def test_a_place_that_cannot_be_written_is_told_before_the_fit(tables, monkeypatch):
    def refused(path, *_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(loop, "run_steps", None)
    monkeypatch.setattr(atomic_files.os, "open", refused)
    told = fit(tables, code=2).stderr
    assert "m.secant cannot be written: the folder is read-only" in " ".join(told.split())


def test_a_folder_that_is_not_there_is_told_before_the_fit(tables, monkeypatch):
    monkeypatch.setattr(loop, "run_steps", None)
    command = ["fit", str(tables / "a.csv"), str(tables / "b.csv")]
    found = CliRunner().invoke(app, [*command, "-o", str(tables / "no" / "m.secant")])
    assert found.exit_code == 2
    assert "is not a folder" in found.stderr
