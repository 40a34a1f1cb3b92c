"""Objects to JSON and back: secant's own objects are restored, others are refused."""

import contextlib
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.unit.model_files.same import differences
from tests.unit.model_files.sealed import changed

import secant
from secant.model_files import ModelFileError, vocabulary
from secant.model_files.decoder import decoded
from secant.model_files.encoder import FORMAT, encoded
from secant.model_files.strict_json import parsed_json, written
from secant.paths import DiffusionBridge, Moments
from secant.schedules import VariancePreserving
from secant.training.settings import Record, Status

DTYPES = st.sampled_from(["bool", "i1", "u2", "i4", "u8", "i8", "f2", "f4", "f8"])
ARRAYS = DTYPES.flatmap(lambda d: arrays.arrays(d, arrays.array_shapes(min_dims=0, min_side=0)))
INTEGERS = st.integers(-(2**63) + 1, 2**63 - 1)
PLAIN = st.none() | st.booleans() | INTEGERS | st.floats() | st.text()
OURS = st.sampled_from(list(Status)) | st.builds(
    Record, step=INTEGERS, seconds=st.floats(), loss=st.floats(), held_out=st.floats()
) | st.builds(
    DiffusionBridge,
    schedule=st.builds(VariancePreserving, rate_min=st.floats(0.01, 0.1), rate_max=st.just(20)),
)  # fmt: skip
LEAVES = (
    PLAIN
    | OURS
    | ARRAYS
    | ARRAYS.map(np.asfortranarray)
    | arrays.arrays("f4", 1).map(lambda a: a[0])
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | INTEGERS, inner, max_size=3)
    ),
    max_leaves=12,
)


def there_and_back(value):
    found = encoded(value)
    return decoded(parsed_json(written(found.tree)), found.tensors)


@settings(deadline=None, max_examples=100)
@given(TREES)
def test_any_tree_of_ours_survives(tree):
    assert differences(tree, there_and_back(tree)) == []


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["a0", "a1", "nan", "C", "float32", "DiffusionBridge", "Status",
                       "secant.paths.DiffusionBridge", "secant.training.history.Status",
                       "FINISHED", "os.system"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["class", "fields", "member", "tuple", "dict", "float", "scalar", "value",
                         "array", "order", "jax", "names", "random_state", "rest", "schedule",
                         "end_cut", "noise", "__class__"]),
        inner, max_size=3,
    ),
    max_leaves=15,
)  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(JUNK, st.integers(1, FORMAT))
def test_junk_is_read_or_refused(tree, version):
    tensors = {"a0": np.ones(2), "a1": np.zeros((0, 3), dtype=np.int8)}
    with contextlib.suppress(ModelFileError):  # and nothing else
        decoded(tree, tensors, version=version)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:0e1.-NIa\\u', max_size=40))
def test_json_is_read_as_others_read_it_or_refused(text):
    try:
        found = parsed_json(text)
    except ModelFileError:
        return
    assert repr(found) == repr(json.loads(text))


def test_arrays_of_jax_keep_their_precision():
    with jax.enable_x64(True):
        long = (jnp.arange(3, dtype=jnp.float64) / 3, jnp.arange(3) + 2**40)
    short = jnp.arange(3, dtype=jnp.float32) / 3
    assert differences([long, short], there_and_back([long, short])) == []


def test_arrays_keep_their_order_in_memory():
    rows = np.arange(6.0).reshape(2, 3)
    for stored in (rows, rows.T, rows[:, ::2], rows[:, :2], np.asfortranarray(np.ones((2, 3, 4)))):
        found = there_and_back(stored)
        assert (found == stored).all()
        assert found.flags.f_contiguous == stored.flags.f_contiguous
        assert found.flags.writeable


def test_an_array_used_twice_is_stored_once():
    rows = np.ones(5)
    found = encoded([rows, rows, jnp.ones(2)])
    assert len(found.tensors) == 2
    one, two, _ = decoded(found.tree, found.tensors)
    assert one is two


def test_random_states_go_on_where_they_were():
    state = np.random.RandomState(5)
    state.normal(size=7)
    found = there_and_back(state)
    assert (found.normal(size=900) == state.normal(size=900)).all()


def test_the_list_has_classes_of_models_only():
    found = vocabulary.classes()
    assert len(found) > 100
    assert all(kind.__module__.startswith(vocabulary._PACKAGES) for kind in found.values())
    assert not {"SklearnRatio", "Given", "_Pulled", "FlowJAX", "Path", "Contents"} & set(found)
    assert not any(name.startswith("_") for name in found)


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "secant.np", "Given", "SklearnRatio", "Path", "_Pulled", "np",
     "os.Training", "Training.__init__", "secant.bases.mixture_fit._Moments",
     "secant.estimators.off_the_shelf.SklearnRatio",
     "secant.bases.rules.Given", "secant.paths", "secant.paths.Path",
     "secant.paths.DiffusionBridge.__init__",
     "secant.model_files.container.Contents", "numpy.ndarray", "subprocess.Popen", "", "__main__.x",
     "../../etc/passwd", "secant.estimators.secant_ratio.np", "secant.model_files.load"],
)  # fmt: skip
@pytest.mark.parametrize("version", [1, 2, 3])
def test_classes_that_are_not_on_the_list(name, version):
    for rest in ({"fields": {}}, {"member": "x"}):
        with pytest.raises(ModelFileError, match="no class of models here"):
            decoded({"class": name, **rest}, {}, version=version)


BRIDGE = encoded(DiffusionBridge()).tree
MOMENTS = encoded(Moments(1.0, 2.0, 3.0)).tree
TRAINING = encoded(secant.Training()).tree


def with_fields(tree, **fields):
    return {**tree, "fields": {**tree["fields"], **fields}}


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (with_fields(BRIDGE, more=1), "DiffusionBridge has no part named 'more'"),
        (with_fields(BRIDGE, __class__=1), "no part named '__class__'"),
        (with_fields(BRIDGE, schedule=1), "`schedule` of DiffusionBridge cannot be 'int'"),
        (with_fields(BRIDGE, schedule=BRIDGE), "cannot be 'DiffusionBridge'"),
        (with_fields(BRIDGE, end_cut=0.7), r"a DiffusionBridge is not valid: 'end_cut must lie in"),
        (with_fields(BRIDGE, end_cut="0.1"), "`end_cut` of DiffusionBridge cannot be 'str'"),
        (with_fields(TRAINING, steps=-1), "a Training is not valid: 'Training needs steps > 0"),
        (with_fields(TRAINING, steps=[1]), "`steps` of Training cannot be 'list'"),
        ({**MOMENTS, "fields": {"square_0": 1.0}}, r"Moments lacks \['cross', 'square_1'\]"),
        ({**BRIDGE, "fields": []}, "where a dict belongs"),
        ({**BRIDGE, "class": 3}, "where a str belongs"),
        ({"class": "Status", "member": "__class__"}, "does not hold"),
        ({"class": "Status", "member": ["FINISHED"]}, "does not hold"),
        ({"class": "Status", "fields": {}}, "has no fields"),
        ({"class": "Training", "member": "steps"}, "has no members"),
        ({"class": "Training"}, "something with keys"),
        ({}, "something with keys"),
        ({"float": "1e3"}, "names '1e3', which it does not hold"),
        ({"scalar": "object", "value": 1}, "a number of type 'object'"),
        ({"scalar": "int8", "value": 1000}, "1000 is no int8"),
        ({"scalar": "float32", "value": "x"}, "a number of type"),
        ({"array": "a9", "order": "C"}, "names 'a9'"),
        ({"array": "a0", "order": "X"}, "in order 'X'"),
        ({"array": ["a0"], "order": "C"}, "names"),
        ({"names": ["a", 1]}, "names that are no texts"),
        ({"tuple": 3}, "where a list belongs"),
        ({"dict": [[[1], 2]]}, "no list of pairs"),
        ({"dict": [[1, 2, 3]]}, "no list of pairs"),
        ({"random_state": "a0", "rest": [0, 0, 0.0]}, "an invalid random state"),
        ({"random_state": "a1", "rest": [10**6, 0, 0.0]}, "an invalid random state"),
        ({"random_state": "a1", "rest": [-1, 0, 0.0]}, "an invalid random state"),
        ({"random_state": "a1", "rest": [0, 0]}, "an invalid random state"),
    ],
)
def test_trees_that_make_no_sense(tree, words):
    tensors = {"a0": np.ones(2), "a1": np.ones(624, dtype=np.uint32)}
    with pytest.raises(ModelFileError, match=words):
        decoded(tree, tensors)


def test_a_part_added_since_stands_at_its_default():
    older = {**TRAINING, "fields": {"steps": 77}}
    assert differences(decoded(older, {}), secant.Training(steps=77)) == []


def test_levels_are_bounded():
    tree = 1
    for _ in range(70):
        tree = [tree]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        decoded(tree, {})


def test_arrays_that_belong_to_nothing():
    with pytest.raises(ModelFileError, match="1 arrays that belong to nothing"):
        decoded(1, {"a0": np.ones(1)})


@pytest.mark.parametrize("name", ["log_ratio", "_log_ratio", "__dict__", "__class__", "__reduce__",
                                  "__sklearn_is_fitted__", "a b", "", "fit"])  # fmt: skip
def test_what_an_estimator_learned_hides_none_of_its_code(path, name):
    def change(header, _tensors):
        header["estimator"]["fields"][name] = 1

    path.write_bytes(changed(path.read_bytes(), change))
    with pytest.raises(ModelFileError, match="KernelRatio has no part named"):
        secant.load(path)


def test_a_file_without_an_estimator(path):
    def change(header, tensors):
        header["estimator"] = TRAINING
        tensors.clear()

    path.write_bytes(changed(path.read_bytes(), change))
    with pytest.raises(ModelFileError, match="it holds a Training, not an estimator"):
        secant.load(path)


def test_a_parameter_added_since_stands_at_its_default(path):
    def change(header, _tensors):
        del header["estimator"]["fields"]["floor"]

    path.write_bytes(changed(path.read_bytes(), change))
    assert secant.load(path).get_params()["floor"] == 1e-3
