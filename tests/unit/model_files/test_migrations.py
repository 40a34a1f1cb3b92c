"""Files of older formats: renamed classes, changed fields, removed classes."""

import pytest
from tests.unit.model_files.same import differences
from tests.unit.model_files.sealed import changed
from tests.unit.model_files.test_formats import FOLDER

import secant
from secant.model_files import ModelFileError, migrations
from secant.model_files.decoder import decoded
from secant.model_files.encoder import encoded
from secant.model_files.migrations import Saved
from secant.paths import DiffusionBridge
from secant.schedules import Trigonometric
from secant.training import Status

TRAINING = {"class": "secant.training.settings.Training", "fields": {"steps": 77}}
STATUS = {"class": "secant.training.history.Status", "member": "DONE"}
GONE = {"class": "secant.gone.OldSchedule", "fields": {"rate": 1.0}}
MIGRATED = pytest.mark.parametrize("version", [1, 2])


def fake(monkeypatch, name, function, *, gone=False):
    table = migrations.GONE_BEFORE_FORMAT_3 if gone else migrations.BEFORE_FORMAT_3
    monkeypatch.setitem(table, name, function)


def renamed(parts):
    return {"steps" if name == "n_steps" else name: part for name, part in parts.items()}


@MIGRATED
def test_a_part_that_was_renamed(version, monkeypatch):
    fake(monkeypatch, "Training", renamed)
    older = {**TRAINING, "fields": {"n_steps": 77}}
    assert decoded(older, {}, version=version) == secant.Training(steps=77)


@MIGRATED
def test_a_member_that_was_renamed(version, monkeypatch):
    fake(monkeypatch, "Status", lambda parts: {"member": {"DONE": "FINISHED"}[parts["member"]]})
    assert decoded(STATUS, {}, version=version) is Status.FINISHED


@MIGRATED
def test_a_class_that_another_one_replaced(version, monkeypatch):
    fake(monkeypatch, "OldSchedule", lambda parts: Saved("Trigonometric", {}), gone=True)
    bridge = encoded(DiffusionBridge()).tree
    older = {
        "class": "secant.paths.DiffusionBridge",
        "fields": bridge["fields"] | {"schedule": GONE},
    }
    assert decoded(older, {}, version=version).schedule == Trigonometric()


@MIGRATED
def test_a_part_of_a_class_that_is_gone(version, monkeypatch):
    fake(monkeypatch, "OldSchedule", lambda parts: None, gone=True)
    fake(monkeypatch, "Training", lambda parts: {k: v for k, v in parts.items() if k != "old"})
    older = {**TRAINING, "fields": {"steps": 77, "old": GONE}}
    assert decoded(older, {}, version=version) == secant.Training(steps=77)


@pytest.mark.parametrize("format_", [1, 2])
def test_an_older_file_whose_learned_parts_changed(format_, monkeypatch, tmp_path):
    """The file lacks a learned part of today, and has one, with an array, of yesterday."""
    raw = (FOLDER / f"format-{format_}-secant-ratio.secant").read_bytes()

    def change(header, _tensors):
        fields = header["estimator"]["fields"]
        fields["log_ratio"] = fields.pop("history_")

    def to_today(parts):
        return {**{k: v for k, v in parts.items() if k != "log_ratio"}, "history_": []}

    (tmp_path / "older.secant").write_bytes(changed(raw, change))
    with pytest.raises(ModelFileError, match="no part named 'log_ratio'"):
        secant.load(tmp_path / "older.secant")
    fake(monkeypatch, "SecantRatio", to_today)
    assert secant.load(tmp_path / "older.secant").history_ == []


def test_files_of_the_present_format_are_left_alone(monkeypatch):
    fake(monkeypatch, "Training", lambda parts: {"steps": 1})
    tree = encoded(secant.Training(steps=77))
    assert differences(decoded(tree.tree, tree.tensors), secant.Training(steps=77)) == []


def test_a_migration_that_a_stranger_makes_fail(monkeypatch):
    fake(monkeypatch, "Training", lambda parts: {"steps": parts["n_steps"]})
    with pytest.raises(ModelFileError, match="an older Training is not valid"):
        decoded(TRAINING, {}, version=2)


def test_a_migration_can_name_no_other_class_than_those_listed(monkeypatch):
    fake(monkeypatch, "OldSchedule", lambda parts: Saved("os.system", parts), gone=True)
    with pytest.raises(ModelFileError, match="no class of models here"):
        decoded(GONE, {}, version=2)


def test_each_format_has_its_own_names():
    with pytest.raises(ModelFileError, match="no class of models here"):
        decoded({**TRAINING, "class": "Training"}, {}, version=2)
    with pytest.raises(ModelFileError, match="no class of models here"):
        decoded(TRAINING, {}, version=3)


@pytest.mark.parametrize("place", ["secant.training.settings", "secant.some.other.place", "secant"])
def test_where_a_class_was_does_not_matter(place):
    older = {**TRAINING, "class": f"{place}.Training"}
    assert decoded(older, {}, version=1) == secant.Training(steps=77)
