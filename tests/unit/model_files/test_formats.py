"""Files of every released format load, and answer as they did when they were written."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.model_files.same import differences
from tests.unit.model_files.sealed import changed

import secant
from secant.model_files import read_metadata
from secant.model_files.container import read
from secant.model_files.saving import FORMAT

FOLDER = Path(__file__).parents[2] / "golden/models"
FILES = sorted(FOLDER.glob("*.secant"))


def answers(path):
    """The answers of the estimators of one format for some rows."""
    version = path.name.split("-")[1]
    return json.loads((FOLDER / f"format-{version}-answers.json").read_text("utf-8"))


def test_there_are_files_of_every_format():
    written = [path.name.split("-")[1] for path in FILES]
    assert {n: written.count(n) for n in written} == {str(n): 3 for n in range(1, FORMAT + 1)}


CURRENT = [path for path in FILES if path.name.startswith(f"format-{FORMAT}-")]


@pytest.mark.parametrize("path", CURRENT, ids=lambda path: path.stem)
def test_a_format_does_not_change_without_a_new_number(path, tmp_path):
    """Where this fails, raise `FORMAT` and write its files by tests/golden/models/write.py."""
    secant.load(path).save(tmp_path / "again.secant", metadata=read_metadata(path))
    before, now = (read(p) for p in (path, tmp_path / "again.secant"))
    assert {**now.header, "versions": None} == {**before.header, "versions": None}
    kinds = [{n: (a.dtype, a.shape) for n, a in found.tensors.items()} for found in (before, now)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_older_files_load(path, unoptimised):
    found, expected = secant.load(path), answers(path)
    columns = np.array(expected["rows"]).T
    table = pa.table(dict(zip(expected["names"], columns, strict=True)))
    # Another machine may round another way: single precision, and a sum over a few layers.
    name = path.stem.split("-", 2)[2]
    np.testing.assert_allclose(found.score_samples(table), expected[name], rtol=1e-4, atol=1e-5)
    assert found.feature_names_in_.tolist() == expected["names"]
    assert read_metadata(path) == {"kept": [1, "ü"]}


def test_a_file_loads_in_a_process_that_has_imported_nothing_yet():
    script = f"import secant; print(secant.load({str(FILES[0])!r}).n_features_in_)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == str(len(answers(FILES[0])["names"])), found.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_was_loaded_can_be_saved_again(path, tmp_path):
    found = secant.load(path)
    found.save(tmp_path / "again.secant", metadata=read_metadata(path))
    again = secant.load(tmp_path / "again.secant")
    assert differences(found, again) == []


def test_a_training_and_its_record_are_kept():
    found = secant.load(FOLDER / "format-1-secant-ratio.secant")
    assert [record.step for record in found.history_] == [0, 50, 100, 150, 200]
    assert found.diagnostics_.status.name == "FINISHED"
    assert "weights" in str(found.diagnostics_)
    assert found.get_params()["training"].steps == 200


@pytest.mark.parametrize("part", ["model_", "scaling_", "rule_", "path_"])
def test_a_fitted_estimator_lacks_nothing(part, tmp_path):
    def change(header, _tensors):
        del header["estimator"]["fields"][part]

    raw = (FOLDER / "format-1-secant-ratio.secant").read_bytes()
    (tmp_path / "less.secant").write_bytes(changed(raw, change))
    with pytest.raises(secant.ModelFileError, match=rf"SecantRatio lacks \['{part}'\]"):
        secant.load(tmp_path / "less.secant")
