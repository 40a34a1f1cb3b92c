"""Exported files are self-contained, describe themselves, and are written atomically."""

import json
import subprocess
import sys

import jax
import numpy as np
import onnx
import onnxruntime
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from tests.unit.deploy import exported as e

from secant import KernelRatio, SecantRatio, SklearnRatio, __version__
from secant.bases import StandardNormal
from secant.deploy.export import (
    ExportError,
    export_onnx,
    export_stablehlo,
    load_stablehlo,
    ratios,
)
from secant.integration import Adaptive, RungeKutta
from secant.models import TangentNetwork
from secant.models.secant_function import SecantFunction
from secant.tables.encoding import Encoding
from secant.tasks.atoms import Dequantisation

pytestmark = pytest.mark.usefixtures("unoptimised")

BOTH = pytest.mark.parametrize("write", [export_onnx, export_stablehlo])


def test_a_fresh_process_needs_onnxruntime_and_numpy_only(tmp_path):
    estimator = e.ratio()
    export_onnx(estimator, tmp_path / "model.onnx")
    np.save(tmp_path / "rows.npy", e.ROWS)
    program = (
        "import sys, numpy as np, onnxruntime\n"
        "session = onnxruntime.InferenceSession('model.onnx')\n"
        "np.save('answers.npy', session.run(None, {'rows': np.load('rows.npy')})[0])\n"
        "assert not {'jax', 'secant', 'onnx'} & set(sys.modules)\n"
    )
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in ("model.onnx", "rows.npy"):
        (tmp_path / name).rename(alone / name)
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=alone, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_allclose(
        np.load(alone / "answers.npy"), estimator.log_ratio(e.ROWS), rtol=1e-5, atol=1e-5
    )


def test_any_number_of_rows(tmp_path):
    estimator = e.ratio()
    export_onnx(estimator, tmp_path / "model.onnx")
    export_stablehlo(estimator, tmp_path / "model.hlo")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    by_hlo = load_stablehlo(tmp_path / "model.hlo")
    for n in (0, 1, 7):
        (found,) = session.run(None, {"rows": e.ROWS[:n]})
        assert found.shape == by_hlo(e.ROWS[:n]).shape == (n,)
        np.testing.assert_allclose(found, by_hlo(e.ROWS[:n]), rtol=1e-5, atol=1e-5)


def test_the_graph(tmp_path):
    export_onnx(e.ratio(), tmp_path / "model.onnx", dtype="float32")
    model = onnx.load(tmp_path / "model.onnx", load_external_data=False)
    ends = [*model.graph.input, *model.graph.output]
    assert [value.name for value in ends] == ["rows", "log_ratio"]
    assert {value.type.tensor_type.elem_type for value in ends} == {onnx.TensorProto.FLOAT}
    rows = ends[0].type.tensor_type.shape.dim
    assert (rows[0].dim_param, rows[1].dim_value) == ("n", e.D)
    kinds = {tensor.data_type for tensor in model.graph.initializer if len(tensor.dims) == 2}
    assert onnx.TensorProto.FLOAT in kinds  # weights stay single
    assert all(t.data_location == onnx.TensorProto.DEFAULT for t in model.graph.initializer)
    assert {(op.domain, op.version) for op in model.opset_import} == {("", 17)}


def metadata(path):
    return onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map


def test_metadata(tmp_path):
    estimator = e.ratio()
    estimator.feature_names_in_ = np.array(["mass", "größe", "dose"], dtype=object)
    found = export_onnx(estimator, tmp_path / "model.onnx")
    about = metadata(tmp_path / "model.onnx")
    assert about["secant.version"] == __version__
    assert about["secant.estimator"] == found.estimator == "SecantRatio"
    assert about["secant.output"] == found.quantity == "log_ratio"
    assert json.loads(about["secant.columns"]) == ["mass", "größe", "dose"]
    assert "secant.encoding" not in about
    assert found.size == (tmp_path / "model.onnx").stat().st_size


def test_nameless_columns_go_by_their_numbers(tmp_path):
    assert export_onnx(e.ratio(), tmp_path / "model.onnx").columns == ("0", "1", "2")


def test_an_encoding_is_carried_and_its_columns_are_the_inputs(tmp_path):
    rng = np.random.default_rng(0)
    tables = [
        pa.table({"age": rng.normal(size=60), "colour": rng.choice(["red", "blue"], 60)})
        for _ in range(2)
    ]
    encoding = Encoding.fitted(tables)
    rows = [encoding.encode(table, seed=seed).rows for seed, table in enumerate(tables)]
    estimator = KernelRatio(n_centers=10, bandwidth=1.0, ridge=0.1, random_state=0)
    estimator.fit_samples(*rows)
    export_onnx(estimator, tmp_path / "model.onnx", encoding=encoding)
    about = metadata(tmp_path / "model.onnx")
    assert json.loads(about["secant.columns"]) == list(encoding.names)
    assert "colour=red" in encoding.names
    carried = Encoding.from_json(json.loads(about["secant.encoding"]))
    again = carried.encode(tables[1], seed=1).rows
    found = e.onnx_answers(tmp_path / "model.onnx", again)
    np.testing.assert_allclose(found, estimator.log_ratio(rows[1]), rtol=1e-5, atol=1e-5)


def test_jax_is_as_it_was_afterwards(tmp_path):
    rule = TangentNetwork(e.TRUNK, n_nodes=2)
    export_onnx(e.ratio(rule), tmp_path / "model.onnx")
    assert not jax.config.jax_enable_x64
    x = jax.numpy.ones(3)
    assert x.dtype == np.float32
    assert np.isfinite(jax.jit(lambda y: jax.numpy.stack([jax.nn.silu(y), y]))(x)).all()
    assert np.isfinite(e.ratio(rule).log_ratio(e.ROWS)).all()


@BOTH
@pytest.mark.parametrize(
    ("estimator", "part"),
    [
        (lambda: e.ratio(TangentNetwork(e.TRUNK), rule=Adaptive()), "the rule Adaptive"),
        (lambda: e.ratio(TangentNetwork(e.TRUNK), rule=RungeKutta()), "the rule RungeKutta"),
        (lambda: SklearnRatio(folds=None).fit_samples(e.X_0, e.X_1), "a SklearnRatio"),
        (lambda: dequantised(), r"the dequantisation of 1 column"),
        (lambda: "a text", "a ratio or a density can be exported; got a str"),
    ],
    ids=["adaptive", "runge-kutta", "sklearn", "dequantised", "text"],
)
def test_what_cannot_be_exported_is_named(write, estimator, part, tmp_path):
    with pytest.raises(ExportError, match=part):
        write(estimator(), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def dequantised():
    found = e.density(StandardNormal())
    found.dequantisation_ = Dequantisation.of(e.X_0, [1])
    return found


@BOTH
def test_other_mistakes(write, tmp_path):
    with pytest.raises(NotFittedError):
        write(SecantRatio(), tmp_path / "model")
    with pytest.raises(ExportError, match=r"`dtype` must be one of .*; got 'float16'"):
        write(e.ratio(), tmp_path / "model", dtype="float16")
    (tmp_path / "foreign").write_bytes(b"nothing of the kind")
    with pytest.raises(ExportError, match="is not a file of `export_stablehlo`"):
        load_stablehlo(tmp_path / "foreign")


class _Odd(SecantFunction):
    """A user's own network, with an operation that ONNX lacks."""

    def parts(self, x, l, t):
        return jax.scipy.special.bessel_jn(x[:, 0], v=1)[1][:, None]

    def time_score(self, x, t):
        return self.secant(x, t, t)


def test_an_operation_that_onnx_lacks(tmp_path):
    with pytest.raises(ExportError, match=r"cannot convert the network.*--to stablehlo"):
        export_onnx(e.ratio(_Odd()), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


@BOTH
def test_a_program_that_answers_otherwise_is_not_written(write, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_text("the older file")
    monkeypatch.setattr(ratios, "scaled", lambda x, scaling: x * 1e-4)
    with pytest.raises(ExportError, match="must agree with the model"):
        write(e.ratio(), path)
    assert path.read_text() == "the older file"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("absent", ["jax2onnx", "onnx", "onnxruntime"])
def test_without_the_extra_it_says_what_to_install(absent, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(ImportError, match=r"pip install 'secant\[onnx\]'"):
        export_onnx(e.ratio(), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_stablehlo_needs_no_extra(tmp_path, monkeypatch):
    for absent in ("jax2onnx", "onnx", "onnxruntime"):
        monkeypatch.setitem(sys.modules, absent, None)
    export_stablehlo(e.ratio(), tmp_path / "model.hlo")
    found = load_stablehlo(tmp_path / "model.hlo")(e.ROWS)
    np.testing.assert_allclose(found, e.ratio().log_ratio(e.ROWS), rtol=1e-5, atol=1e-5)
