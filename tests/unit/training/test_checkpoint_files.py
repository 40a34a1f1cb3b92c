"""Checkpoint files: the digests of a fit, and what the processes of a training agree on."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from secant.training import CheckpointError, Record, checkpoint_files
from secant.training.checkpoint_files import Causes, Progress, Slot, common_fingerprint, digests


def together(monkeypatch, **fields):
    """Make it look as if there were several processes."""
    fields = {"own_rows": False, "processes": 2, "process": 0, **fields}
    monkeypatch.setattr(checkpoint_files, "current_devices", lambda: SimpleNamespace(**fields))


def heard(monkeypatch, *others):
    """Let the other processes say this."""
    monkeypatch.setattr(checkpoint_files, "gathered", lambda own: [own, *others])


def as_bytes(fingerprint):
    return np.frombuffer(bytes.fromhex("".join(fingerprint.values())), dtype=np.uint8)


def test_processes_with_different_fits_are_told(monkeypatch):
    together(monkeypatch)
    one, other = (digests(Causes(seed, "settings", "data", "model")) for seed in (0, 1))
    heard(monkeypatch, as_bytes(one))
    assert common_fingerprint(one) == one
    heard(monkeypatch, as_bytes(other))
    with pytest.raises(ValueError, match="process 1 came with another seed"):
        common_fingerprint(one)


def test_a_fit_of_own_rows_is_known_by_the_rows_of_all(monkeypatch):
    together(monkeypatch, own_rows=True)
    one, other = (digests(Causes(0, "settings", rows, "model")) for rows in ("a", "b"))
    heard(monkeypatch, as_bytes(other))
    joined = common_fingerprint(one)
    assert joined["data"] not in (one["data"], other["data"])
    assert {**joined, "data": ""} == {**one, "data": ""}


def slot_of(folder):
    return Slot(folder / "training-0.checkpoint", 0.0, {})


def progress_at(step):
    return Progress((jnp.ones(1),), (0, 0), (Record(step, 0.0, 0.0, 0.0),))


def test_only_the_first_process_writes_checkpoints(monkeypatch, tmp_path):
    for process in (1, 0):
        together(monkeypatch, process=process)
        slot_of(tmp_path).write(progress_at(10))
        assert len(list(tmp_path.iterdir())) == (process == 0)


def test_processes_that_do_not_see_the_same_checkpoint_are_told(monkeypatch, tmp_path):
    heard(monkeypatch, np.array(10))
    with pytest.raises(CheckpointError, match=r"are of steps \[0, 10\]\. Use a folder that all"):
        slot_of(tmp_path).restored(progress_at(0))
