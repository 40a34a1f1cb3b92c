"""What can be saved, what cannot, and the messages."""

import errno
import json
import os
import stat

import numpy as np
import pytest
import safetensors
from sklearn.exceptions import NotFittedError
from tests.unit.model_files import small

import secant
from secant.bases import Given
from secant.model_files import ModelFileError, load, read_metadata, save
from secant.model_files.saving import FORMAT
from secant.models import TrunkBuilder
from secant.models.networks import LinearLayer


class OwnTrunk(TrunkBuilder):
    """A user's own network."""

    def build(self, n_in, n_out, *, key):
        del key
        return LinearLayer.zeros(n_in, n_out)


class OwnDensity:
    """A user's own density."""


def refitted(kernel, **changed):
    """The fitted estimator with some attributes set to other things."""
    found = small.kernel()
    vars(found).update(vars(kernel) | changed)
    return found


def test_metadata_comes_back(path):
    assert read_metadata(path) == {"columns": ["a", "b"]}


@pytest.mark.parametrize("metadata", [{"a": np.ones(2)}, {"a": float("nan")}, {1: 2}, {"a": (1,)}])
def test_metadata_that_json_cannot_hold(kernel, tmp_path, metadata):
    with pytest.raises(ModelFileError, match="`metadata` must be what JSON can hold"):
        kernel.save(tmp_path / "model.secant", metadata=metadata)


def test_other_readers_of_safetensors_can_look_inside(path, kernel):
    with safetensors.safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["secant"])
        fields = header["estimator"]["fields"]
        assert (file.get_tensor(fields["centers_"]["array"]) == kernel.centers_).all()
    assert header["format"] == FORMAT
    assert header["versions"]["secant"] == secant.__version__
    assert fields["bandwidth_"] == kernel.bandwidth_


def test_nothing_to_save(tmp_path):
    for estimator in (small.kernel(), small.density("normal"), small.path_entropy()):
        with pytest.raises(NotFittedError):
            estimator.save(tmp_path / "model.secant")
    assert list(tmp_path.iterdir()) == []


def test_a_classifier_of_scikit_learn_is_refused(tmp_path):
    ratio = secant.SklearnRatio(folds=None).fit_samples(small.X_0, small.X_1)
    with pytest.raises(
        ModelFileError, match=r"this SklearnRatio is a SklearnRatio: .* pickle only"
    ):
        ratio.save(tmp_path / "model.secant")
    switch = secant.ChasmSwitch(secant.SklearnRatio(), random_state=0)
    with pytest.raises(ModelFileError, match="`near` of this ChasmSwitch is a SklearnRatio"):
        switch.fit_samples(small.X_0, small.X_1).save(tmp_path / "model.secant")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Given(OwnDensity()), "`scaling` of this KernelRatio is a Given: a density of your own"),
        (OwnDensity(), r"is a .*OwnDensity, not a class of secant: .* no code"),
        (OwnTrunk(), r"is a .*OwnTrunk, not a class of secant"),
        (np.sin, "is a numpy.ufunc, not a class of secant"),
        (len, "not a class of secant"),
        (secant.KernelRatio, "not a class of secant"),
        (2**64, "an integer of more than 64 bits"),
        (np.ones(2, dtype=complex), "an array of type complex128"),
        (np.array([1, "a"], dtype=object), "an array of Python objects"),
        (np.datetime64("2020-01-01"), "of type datetime64"),
        ({(1, 2): 3}, "keys other than texts and integers"),
        (np.random.RandomState(np.random.PCG64(0)), "a random state of PCG64"),
        ({"a": [0, OwnTrunk()]}, r"`scaling\['a'\]\[1\]` of this KernelRatio"),
    ],
)
def test_parts_that_no_file_can_hold(kernel, tmp_path, part, words):
    with pytest.raises(ModelFileError, match=words):
        refitted(kernel, scaling=part).save(tmp_path / "model.secant")
    assert list(tmp_path.iterdir()) == []


def test_a_part_within_itself(kernel, tmp_path):
    endless = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="deeper than 64 levels"):
        refitted(kernel, scaling=endless).save(tmp_path / "model.secant")


def test_a_file_that_would_not_load_is_not_written(kernel, tmp_path):
    with pytest.raises(
        ModelFileError, match="would not load: KernelRatio has no part named 'log_ratio'"
    ):
        refitted(kernel, log_ratio=1.0).save(tmp_path / "model.secant")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("function", "number", "words"),
    [
        ("open", errno.EROFS, "the folder is read-only"),
        ("open", errno.EACCES, "you may not write there"),
        ("fsync", errno.ENOSPC, "the disk is full"),
        ("replace", errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_a_failing_disk_leaves_the_older_file(kernel, path, monkeypatch, function, number, words):
    before = path.read_bytes()

    def failing(*_args, **_settings):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, function, failing)
    with pytest.raises(ModelFileError, match=f"cannot save to .*model.secant: {words}"):
        kernel.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_the_older_file(kernel, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        kernel.save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_where_a_file_cannot_be(kernel, tmp_path):
    with pytest.raises(ModelFileError, match="the folder does not exist"):
        kernel.save(tmp_path / "none" / "model.secant")
    with pytest.raises(ModelFileError, match="it is a folder"):
        kernel.save(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="its folder is a file"):
        kernel.save(tmp_path / "file" / "model.secant")


def test_a_replaced_file_keeps_its_permissions_and_links(kernel, path):
    path.chmod(0o640)
    link = path.with_name("link.secant")
    link.symlink_to(path)
    kernel.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_folder_and_the_file_are_forced_to_the_disk(kernel, path, monkeypatch):
    kinds, force = [], os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda n: (kinds.append(stat.S_IFMT(os.fstat(n).st_mode)), force(n))
    )
    kernel.save(path)
    assert kinds == [stat.S_IFREG, stat.S_IFDIR]


def test_functions_and_methods_are_the_same(kernel, tmp_path):
    save(kernel, str(tmp_path / "model.secant"))
    assert load(str(tmp_path / "model.secant")).ridge_ == kernel.ridge_
    assert secant.load is load
    assert secant.ModelFileError is ModelFileError
