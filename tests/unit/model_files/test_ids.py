"""Files name classes by ids: unique, never lost, and the same wherever the code is."""

import sys
import types
from collections import Counter

import pytest
from tests.unit.model_files.listed_ids import FILE, listed, named_in
from tests.unit.model_files.test_formats import FILES

import secant
from secant.model_files import ModelFileError, migrations, vocabulary
from secant.model_files.decoder import decoded
from secant.model_files.encoder import encoded
from secant.model_files.rebuilding import hints_of
from secant.models.networks import LinearLayer
from secant.schedules import Linear, Schedule

KEPT, PASSING = listed()


@pytest.fixture
def vocabulary_anew():
    """The list of classes is made again, within the test and after it."""
    vocabulary.classes.cache_clear()
    yield
    vocabulary.classes.cache_clear()


def test_ids_are_unique():
    counts = Counter(map(vocabulary.id_of, vocabulary.savable()))
    shared = sorted(name for name, n in counts.items() if n > 1)
    assert not shared, f"two classes are {shared}: give one of them `saved_as: ClassVar[str]`"


ADVICE = """
- renamed: give the class `saved_as` with its old id, or add {"old id": "new id"} to `_RENAMED` in
  vocabulary.py, which changes what new files say;
- moved to a new package: add the package to `_PACKAGES` in vocabulary.py;
- gone: say what stands in its place in `GONE_BEFORE_FORMAT_3` in migrations.py."""


def test_ids_do_not_get_lost():
    known = vocabulary.classes().keys() | migrations.GONE_BEFORE_FORMAT_3.keys()
    lost = sorted(name for name in KEPT if vocabulary.current_id(name) not in known)
    assert not lost, f"files may name {lost}, which no class answers to any more. If it was{ADVICE}"


def test_new_ids_are_listed():
    new = sorted(set(vocabulary.classes()) - KEPT - PASSING)
    assert not new, f"add {new} to {FILE}; to its first part if a fitted estimator may hold them"


def test_the_list_names_nothing_twice():
    assert not KEPT & PASSING
    assert {"SecantRatio", "SpectralSecant", "Scaling", "GaussianAnchor", "LinearLayer"} <= KEPT


def test_aliases_lead_from_ids_of_the_past_to_those_of_today():
    for old, new in vocabulary._RENAMED.items():
        assert old not in vocabulary.classes()
        assert new in vocabulary.classes()


@pytest.mark.parametrize(("version", "name"), [(2, "secant.some.place.School"), (3, "School")])
def test_a_renamed_class_keeps_its_old_id(version, name, monkeypatch):
    monkeypatch.setitem(vocabulary._RENAMED, "School", "Training")
    older = {"class": name, "fields": {"steps": 77}}
    assert decoded(older, {}, version=version) == secant.Training(steps=77)


@pytest.mark.usefixtures("vocabulary_anew")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_code_moves_freely(path, monkeypatch):
    """Every class in another module, and files of all formats load as before."""
    before = dict(vocabulary.classes())
    place = types.ModuleType("secant.paths.elsewhere")
    monkeypatch.setitem(sys.modules, place.__name__, place)
    for kind in before.values():
        hints_of(kind)  # kept from now on: the empty module could not resolve them
        monkeypatch.setattr(kind, "__module__", place.__name__)
        setattr(place, vocabulary.id_of(kind), kind)
    vocabulary.classes.cache_clear()
    assert vocabulary.classes() == before
    assert secant.load(path).n_features_in_ == 2


def test_classes_of_the_same_name():
    assert vocabulary.id_of(LinearLayer) == "LinearLayer"
    assert vocabulary.id_of(Linear) == "Linear"
    for place, value in (("models.networks", LinearLayer.zeros(1, 1)), ("schedules", Linear())):
        found = encoded(value)
        assert type(decoded(found.tree, found.tensors)) is type(value)
        older = {**found.tree, "class": f"secant.{place}.Linear"}
        assert type(decoded(older, found.tensors, version=1)) is type(value)


def test_an_id_is_not_inherited():
    class Own(LinearLayer):
        """A user's own layer."""

    assert vocabulary.id_of(Own) == "Own"


def test_a_user_class_of_the_same_name_is_refused():
    class DiffusionBridge(Schedule):
        def __call__(self, t):
            return t

    with pytest.raises(ModelFileError, match="DiffusionBridge, not a class of secant"):
        encoded(DiffusionBridge())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_was_loaded_is_saved_by_ids_that_stay(path, tmp_path):
    secant.load(path).save(tmp_path / "again.secant")
    assert named_in(tmp_path / "again.secant") <= KEPT
