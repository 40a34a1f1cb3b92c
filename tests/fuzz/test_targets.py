"""The fuzz targets without atheris: on their corpus, whole and corrupted."""

import numpy as np
import pytest
from tests.fuzz import fuzz_config, fuzz_model_file
from tests.hostile.spoiling import spoiled_bytes

TARGETS = {"config": fuzz_config, "model file": fuzz_model_file}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_runs_on_its_corpus(name):
    rng = np.random.default_rng(0)
    for content in TARGETS[name].CORPUS:
        TARGETS[name].target(content)
        for _ in range(20):
            TARGETS[name].target(spoiled_bytes(content, rng))


def test_a_target_would_tell(monkeypatch):
    def careless(data, where):
        raise KeyError(where)

    monkeypatch.setattr(fuzz_config, "parsed_toml", careless)
    with pytest.raises(KeyError):
        fuzz_config.target(b"")
