"""Files spoiled at random: each is refused in plain words or is an estimator; nothing runs."""

import json
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.unit.model_files.sealed import changed
from tests.unit.model_files.test_formats import FILES

import secant
from secant.io.models import ModelFileError
from secant.model_files.structure.field_types import hints_of
from secant.model_files.structure.vocabulary import classes

NOT_TO_HAPPEN = (
    "import",
    "exec",
    "compile",
    "os.system",
    "os.exec",
    "subprocess.Popen",
    "pickle.find_class",
    "marshal.loads",
    "ctypes.dlopen",
    "socket.connect",
)
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


class Watch:
    """Notes what Python does while it is on; an audit hook cannot be taken off again."""

    def __init__(self):
        self.is_on, self.seen = False, []
        sys.addaudithook(self.note)

    def note(self, event, arguments):
        if self.is_on and event in NOT_TO_HAPPEN:
            self.seen.append((event, arguments))

    @contextmanager
    def on(self):
        self.is_on = True
        yield
        self.is_on = False


@pytest.fixture(scope="module")
def watch():
    for kind in classes().values():
        hints_of(kind)  # our own annotations are evaluated once; not so under the watch
    for path in FILES:
        secant.load(path)
    return Watch()


def spoiled_bytes(raw, rng):
    """Flipped, cut, repeated or overwritten, with whatever checksum it then has."""
    found = bytearray(raw)
    at, length = int(rng.integers(len(raw))), int(rng.integers(1, 40))
    match rng.integers(5):
        case 0:
            found[at] ^= 1 << int(rng.integers(8))
        case 1:
            del found[at:]
        case 2:
            del found[at : at + length]
        case 3:
            found[at:at] = found[at : at + length]
        case 4:
            found[at : at + length] = rng.bytes(len(found[at : at + length]))
    return bytes(found)


def spoiled_parts(raw, rng):
    """The right checksum over something else in the header or in the arrays."""

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
    places = [(header, key) for key in header]
    for node, key in places:
        part = node[key]
        keys = (
            part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        )
        places += [(part, k) for k in keys]
    node, key = places[int(rng.integers(len(places)))]
    match rng.integers(4):
        case 0 | 1:
            node[key] = json.loads(json.dumps(VALUES[int(rng.integers(len(VALUES)))]))
        case 2:
            del node[key]
        case 3:
            if isinstance(node, dict):
                node[WORDS[int(rng.integers(len(WORDS)))]] = node.pop(key)


def tally(watch, path, n, seed):
    """How n spoiled files fare."""
    rng = np.random.default_rng(seed)
    raws = [file.read_bytes() for file in FILES]
    counts = {"refused": 0, "loaded": 0, "slow": 0}
    for i in range(n):
        spoil = (spoiled_bytes, spoiled_parts)[i % 2]
        path.write_bytes(spoil(raws[i // 2 % len(raws)], rng))
        start = time.process_time()
        with watch.on():
            counts[outcome(path)] += 1
        counts["slow"] += time.process_time() - start > 1.0
    return counts


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
    counts = tally(watch, tmp_path / "spoiled.secant", 400, seed=0)
    assert watch.seen == []
    assert counts["slow"] == 0
    assert counts["refused"] > 300


def test_the_watch_sees_what_it_should():
    seen = Watch()
    with seen.on():
        exec("1 + 1")
    assert {event for event, _ in seen.seen} == {"compile", "exec"}


@pytest.mark.slow
def test_ten_thousand_spoiled_files(watch, tmp_path, capsys):
    counts = tally(watch, tmp_path / "spoiled.secant", 10_000, seed=1)
    with capsys.disabled():
        print(f"\n10000 spoiled model files: {counts}, {len(watch.seen)} executions, 0 crashes")
    assert watch.seen == []
    assert counts["slow"] == 0
