"""Errors while checkpoints are written and read: warnings, what is kept, what continues."""

import errno
import os
import resource
import signal
import warnings

import numpy as np
import pytest
from tests.unit.training.dial import Towards, press, turned
from tests.unit.training.test_checkpoints import same, stopped_at

import secant
from secant import CheckpointWarning
from secant._host import atomic_files
from secant.training import CheckpointError, Status, checkpointing, keeping_best_on_interrupt

pytestmark = pytest.mark.usefixtures("unoptimised", "as_in_a_terminal")

GOALS = (Towards(5.0), Towards(1.0))


@pytest.fixture(scope="module")
def whole():
    return turned(*GOALS)


class Disk:
    """Writes well, but between some looks at the training."""

    def __init__(self, monkeypatch):
        self._fsync, self._error = os.fsync, None
        monkeypatch.setattr(atomic_files.os, "fsync", self._synced)

    def _synced(self, descriptor):
        if self._error is not None:
            raise OSError(self._error, os.strerror(self._error))
        self._fsync(descriptor)

    def failing(self, first, code=errno.ENOSPC, until=float("inf"), then=lambda record: None):
        def report(record):
            self._error = code if first <= record.step < until else None
            then(record)

        return report

    def mend(self):
        self._error = None


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "the folder is read-only"),
        (errno.EACCES, "you may not write there"),
    ],
)
def test_a_write_that_fails_costs_no_training(code, words, tmp_path, disk, whole):
    with checkpointing(tmp_path, every_seconds=0.0), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert same(turned(*GOALS, report=disk.failing(50, code)), whole)
    assert {w.category for w in told} == {CheckpointWarning}
    assert len(told) == 6  # at every look from step 50 on
    assert f"at step 60: {words}" in str(told[1].message)
    assert "of step 40, is kept, and the fit can resume from it. Training continues" in str(
        told[1].message
    )
    assert "its result is returned" in str(told[-1].message)
    assert [path.name for path in tmp_path.iterdir()] == ["training-0.checkpoint"]
    disk.mend()
    looks = []
    with checkpointing(tmp_path):
        assert same(turned(*GOALS, report=lambda record: looks.append(record.step)), whole)
    assert looks[0] == 50


def test_it_is_tried_again(tmp_path, disk, whole):
    with checkpointing(tmp_path, every_seconds=0.0), pytest.warns(CheckpointWarning) as told:
        turned(*GOALS, report=disk.failing(50, until=70))
    assert len(told) == 2
    looks = []
    with checkpointing(tmp_path):
        assert same(turned(*GOALS, report=looks.append), whole)
    assert looks == []


def test_a_file_larger_than_the_system_allows(tmp_path, whole):
    # A real full disk, not a mock.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    earlier = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def shrink(record):
        if record.step == 50:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))

    try:
        with (
            checkpointing(tmp_path, every_seconds=0.0),
            pytest.warns(CheckpointWarning, match="the file is larger than this system allows"),
        ):
            assert same(turned(*GOALS, report=shrink), whole)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, earlier)
    (path,) = tmp_path.iterdir()
    assert path.stat().st_size > 1000
    with checkpointing(tmp_path):
        assert same(turned(*GOALS), whole)


def test_the_last_write_before_a_signal_must_succeed(tmp_path, disk, whole):
    report = disk.failing(50, then=press(50))
    message = r"at step 50: the disk is full\. The earlier one, of step 40, is kept"
    with checkpointing(tmp_path, every_seconds=0.0), pytest.raises(CheckpointError, match=message):
        turned(*GOALS, report=report)
    disk.mend()
    with checkpointing(tmp_path):
        assert same(turned(*GOALS), whole)


def test_where_the_best_is_kept_anyway_it_need_not(tmp_path, disk):
    report = disk.failing(50, then=press(50))
    with (
        keeping_best_on_interrupt(),
        checkpointing(tmp_path),
        pytest.warns(CheckpointWarning, match="There is no earlier checkpoint"),
    ):
        assert turned(*GOALS, report=report).status is Status.INTERRUPTED


@pytest.mark.parametrize("under", ["", "deeper"])
def test_a_file_in_the_place_of_the_folder(tmp_path, under):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / under
    with (
        pytest.raises(CheckpointError, match=r"cannot keep checkpoints in .* is a file"),
        checkpointing(folder),
    ):
        pass


def test_a_folder_that_cannot_be_written_is_told_before_the_training(tmp_path, monkeypatch):
    def refused(path, *_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(atomic_files.os, "open", refused)
    with (
        pytest.raises(CheckpointError, match="the folder is read-only"),
        checkpointing(tmp_path),
    ):
        pass


def test_a_folder_deleted_meanwhile_comes_back(tmp_path, whole):
    folder = tmp_path / "checkpoints"

    def tidy(record):
        if record.step == 50:
            (folder / "training-0.checkpoint").unlink()
            folder.rmdir()

    with checkpointing(folder, every_seconds=0.0):
        assert same(turned(*GOALS, report=tidy), whole)
    with checkpointing(folder):
        assert same(turned(*GOALS), whole)


def cut(raw):
    return raw[:-3]


def flipped(raw):
    return raw[:-40] + bytes([raw[-40] ^ 1]) + raw[-39:]


def emptied(raw):
    return raw[:0]


@pytest.mark.parametrize(
    ("damage", "words"),
    [(cut, "it was cut short"), (flipped, "its checksum is wrong"), (emptied, "it is empty")],
)
def test_a_damaged_file_is_refused_and_told_by_name(damage, words, tmp_path, whole):
    stopped_at(20, tmp_path, *GOALS)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    message = f"cannot resume from {path}: .*{words}.* Delete that file to train again"
    with checkpointing(tmp_path), pytest.raises(CheckpointError, match=message):
        turned(*GOALS)
    path.unlink()
    with checkpointing(tmp_path):
        assert same(turned(*GOALS), whole)


@pytest.fixture
def mapped(tmp_path):
    """A ratio, and two samples that lie on disk."""
    rng = np.random.default_rng(0)
    for name, mean in (("x_0", 0.0), ("x_1", 0.5)):
        np.save(tmp_path / f"{name}.npy", rng.normal(mean, 1.0, (3000, 2)))
    training = secant.Training(steps=40, batch_size=64, evaluate_every=10)
    settings = {"training": training, "scaling": secant.Standardise(), "random_state": 0}
    return secant.ClassifierRatio(**settings), lambda: [
        np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("x_0", "x_1")
    ]


def at_look(number, act, monkeypatch):
    """Do something to the data at a look at the training."""
    run_steps, calls = secant.training.loop.run_steps, []

    def run(*arguments):
        calls.append(1)
        if len(calls) == number:
            act()
        return run_steps(*arguments)

    monkeypatch.setattr(secant.training.loop, "run_steps", run)


def test_a_data_file_cut_short_is_told_and_the_fit_goes_on_once_it_is_back(
    mapped, tmp_path, monkeypatch
):
    ratio, samples = mapped
    whole = ratio.fit_samples(*samples()).log_ratio(samples()[1])
    path, folder = tmp_path / "x_0.npy", tmp_path / "checkpoints"
    raw = path.read_bytes()
    monkeypatch.setitem(checkpointing.__wrapped__.__kwdefaults__, "every_seconds", 0.0)
    with monkeypatch.context() as patched:
        at_look(2, lambda: os.truncate(path, 5000), patched)
        with pytest.raises(OSError, match=r"x_0\.npy was cut to 5,000 bytes .* need 48,128"):
            ratio.fit_samples(*samples(), resume=folder)
    path.write_bytes(raw)
    at_look(1, lambda: None, monkeypatch)
    again = ratio.fit_samples(*samples(), resume=folder).log_ratio(samples()[1])
    np.testing.assert_array_equal(again, whole)
    assert [record.step for record in ratio.history_] == [0, 10, 20, 30, 40]


def test_a_data_file_deleted_or_replaced_meanwhile_is_read_to_its_end(
    mapped, tmp_path, monkeypatch
):
    ratio, samples = mapped
    x = np.asarray(samples()[1])
    whole = ratio.fit_samples(*samples()).log_ratio(x)

    def lose():
        (tmp_path / "x_0.npy").unlink()
        (tmp_path / "new.npy").write_bytes(b"short")
        (tmp_path / "new.npy").rename(tmp_path / "x_1.npy")

    at_look(2, lose, monkeypatch)
    np.testing.assert_array_equal(ratio.fit_samples(*samples()).log_ratio(x), whole)
