"""`secant export`: the format by the file's extension or `--to`, and errors."""

import json
import sys

import numpy as np
import pytest
from tests.unit.deploy import exported as e
from typer.testing import CliRunner

from secant import KernelRatio
from secant.cli import app
from secant.deploy.export import load_stablehlo


def run(*arguments, code=0):
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    assert found.exit_code == code, found.output
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    ratio = KernelRatio(n_centers=10, bandwidth=1.0, ridge=0.1, random_state=0)
    path = tmp_path_factory.mktemp("models") / "model.secant"
    ratio.fit_samples(e.X_0, e.X_1).save(path)
    return path, ratio


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("model.onnx", (), "onnx"),
        ("model.stablehlo", (), "stablehlo"),
        ("model", (), "onnx"),
        ("model.bin", ("--to", "stablehlo"), "stablehlo"),
    ],
)
def test_formats(model, name, options, kind, tmp_path):
    path, ratio = model
    output = tmp_path / name
    found = run("export", path, "-o", output, "--dtype", "float32", "--json", *options)
    result = json.loads(found.stdout)["result"]
    assert (result["format"], result["dtype"]) == (kind, "float32")
    rows = e.ROWS.astype(np.float32)
    answers = e.onnx_answers(output, rows) if kind == "onnx" else load_stablehlo(output)(rows)
    np.testing.assert_allclose(answers, ratio.log_ratio(rows), rtol=1e-5, atol=1e-5)


def test_without_the_extra(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    found = run("export", model[0], "-o", tmp_path / "model.onnx", code=2)
    assert "pip install 'secant[onnx]'" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_not_a_model(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "a.csv" in run("export", tmp_path / "a.csv", "-o", tmp_path / "m.onnx", code=2).stderr
