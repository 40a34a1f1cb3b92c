"""Files corrupted at random: each is refused with a message or is an estimator; nothing runs."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.hostile.spoiling import Watch, places, spoiled_bytes, tally, told
from tests.unit.model_files.sealed import changed
from tests.unit.model_files.test_formats import FILES

import secant
from secant.model_files import ModelFileError
from secant.model_files.rebuilding import hints_of
from secant.model_files.vocabulary import classes

WORDS = [
    "__class__",
    "__reduce__",
    "os.system",
    "secant.paths.Linear",
    "nan",
    "a0",
    "a1",
    "",
    "x" * 99,
    "secant.estimators.secant_ratio.SecantRatio",
    "secant.training.settings.Training",
    "SecantRatio",
    "Training",
]
VALUES = [
    None,
    True,
    -1,
    0,
    2**62,
    1e308,
    [],
    {},
    {"tuple": []},
    {"jax": "a0"},
    {"float": "nan"},
    {"array": "a0", "order": "F"},
    {"class": "os.system", "fields": {}},
    [[[]]],
    *WORDS,
]


@pytest.fixture(scope="module")
def watch():
    for kind in classes().values():
        hints_of(kind)  # our own annotations are evaluated once; not so under the watch
    for path in FILES:
        secant.load(path)
    return Watch()


def spoiled_parts(raw, rng):
    """A valid checksum over a changed header or changed arrays."""

    def change(header, tensors):
        for _ in range(int(rng.integers(1, 4))):
            if rng.random() < 0.2:
                _spoil_array(tensors, rng)
            else:
                _spoil_node(header, rng)

    return changed(raw, change)


def _spoil_array(tensors, rng):
    name = sorted(tensors)[int(rng.integers(len(tensors)))]
    array = tensors[name]
    others = [
        array.ravel()[:0],
        array.ravel(),
        np.asarray(array * np.nan),
        array[None],
        np.ones(3, bool),
    ]
    tensors[name] = others[int(rng.integers(len(others)))]


def _spoil_node(header, rng):
    """One entry somewhere in the tree, replaced, dropped or renamed."""
    found = places(header)
    node, key = found[int(rng.integers(len(found)))]
    match rng.integers(4):
        case 0 | 1:
            node[key] = json.loads(json.dumps(VALUES[int(rng.integers(len(VALUES)))]))
        case 2:
            del node[key]
        case 3:
            if isinstance(node, dict):
                node[WORDS[int(rng.integers(len(WORDS)))]] = node.pop(key)


RAWS = [file.read_bytes() for file in FILES]


def spoiled(number, rng):
    """One of the files, alternately as bytes and as parts."""
    spoil = (spoiled_bytes, spoiled_parts)[number % 2]
    return spoil(RAWS[number // 2 % len(RAWS)], rng)


def outcome(path):
    try:
        found = secant.load(path)
    except ModelFileError as error:
        assert str(error).startswith(f"cannot load {path}: ")  # noqa: PT017
        assert len(str(error)) < 500  # noqa: PT017
        return "refused"
    assert isinstance(found, BaseEstimator)
    return "loaded"


def test_some_hundred_spoiled_files(watch, tmp_path):
    counts, crashes = tally(watch, tmp_path / "spoiled.secant", spoiled, outcome, n=400, seed=0)
    assert (watch.seen, crashes, counts["slow"]) == ([], [], 0)
    assert counts["refused"] > 300


def test_the_watch_sees_what_it_should():
    seen = Watch()
    with seen.on():
        exec("1 + 1")
    assert {event for event, _ in seen.seen} == {"compile", "exec"}


def test_a_crash_is_counted(watch, tmp_path):
    counts, crashes = tally(watch, tmp_path / "spoiled", spoiled, lambda path: 1 // 0, n=2, seed=0)
    assert counts == {"slow": 0, "crashed": 2}
    assert len(crashes) == 2


@pytest.mark.slow
def test_ten_thousand_spoiled_files(watch, tmp_path, capsys):
    counts, crashes = tally(watch, tmp_path / "spoiled.secant", spoiled, outcome, n=10_000, seed=1)
    with capsys.disabled():
        print(told("model files", 10_000, watch, counts, crashes))
    assert (watch.seen, crashes, counts["slow"]) == ([], [], 0)
